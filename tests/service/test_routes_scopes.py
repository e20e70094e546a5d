"""Who may ask what: every route has a scope, and without it nothing is answered."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from dokimasia.operations.operation import Right
from dokimasia.service.app import create_app
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.service.state import Needs
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over

TOKENS: dict[Right, str] = {
    "read": "reader-0123456789",
    "run": "runner-0123456789",
    "review": "review-0123456789",
    "operate": "operate-0123456789",
}
OPEN = {
    ("GET", "/health"),
    ("GET", "/healthz"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/logout"),
    ("POST", "/logout"),
}
"""Routes that need no token: whether the service is there, and where a browser gives one."""

READING = {("POST", "/passports"), ("POST", "/settings/name")}
"""Routes that are sent something and change nothing of the home: a file that is looked at, a name kept at a browser."""

COMMENTING = ("/comments", "/comments/delete", "/comments/{id}", "/views", "/views/delete", "/views/{name:path}")
"""Ends of routes that everybody who may read a run may use: what they wrote, they alone delete."""

REVIEWING = (
    "/reviews",
    "/review",
    "/trees/{tree}/edit",
    "/trees/{tree}/restore",
    "/runs/{run}/corrections",
    "/runs/{run_id}/corrections",
)
"""What needs the scope `review` where it changes something."""

OPERATING = "/models"
"""What needs the scope `operate` where it changes something; all else that does needs `run`."""


def is_open(method: str, path: str) -> bool:
    """Whether a route needs no token: one that is meant to, or a file that is part of every page."""
    return ("GET" if method == "HEAD" else method, path) in OPEN or path.startswith("/static/")


def tokens() -> AccessTokens:
    """A token for each scope, which may read besides."""
    return AccessTokens(
        tuple(
            (token_digest(token), Caller(scope, frozenset[Right]({"read", scope}))) for scope, token in TOKENS.items()
        )
    )


def routes(app: FastAPI) -> Iterator[tuple[str, str, APIRoute]]:
    """Every route of the service, its pages among them, by method and path."""
    waiting: list[Any] = list(app.routes)
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, APIRoute):
            yield from ((method, one.path, one) for method in sorted(one.methods or ()))
        else:
            waiting += getattr(getattr(one, "original_router", None), "routes", [])


def scope_of(route: APIRoute) -> set[str]:
    """The scopes that a route's dependencies need."""
    found: set[str] = set()
    waiting = [route.dependant]
    while waiting:
        one = waiting.pop()
        if isinstance(one.call, Needs):
            found.add(one.call.scope)
        waiting += one.dependencies
    return found


@asynccontextmanager
async def guarded(small: Finished) -> AsyncIterator[tuple[httpx.AsyncClient, list[tuple[str, str, APIRoute]]]]:
    """A client of a service that asks for tokens, and its routes."""
    with service_over(small.home, tokens=tokens()) as service:
        async with asking(service) as client:
            yield client, list(routes(create_app(service)))


async def test_every_route_has_a_scope(small: Finished) -> None:
    """A route that takes no person is open to everybody, and only those that are meant to be are."""
    async with guarded(small) as (_, found):
        assert len(found) > 60
        for method, path, route in found:
            scopes = scope_of(route)
            if is_open(method, path):
                assert not scopes, (method, path)
                continue
            assert len(scopes) == 1, f"{method} {path}: take one of Reader, Starter and Reviewer (service/state.py)"
            if method not in ("GET", "HEAD") and (method, path) not in READING:
                wanted = "review" if any(path.startswith(one) for one in REVIEWING) else "run"
                wanted = "operate" if path.startswith(OPERATING) else wanted
                wanted = "read" if path.startswith("/runs/") and path.endswith(COMMENTING) else wanted
                assert scopes == {wanted}, (method, path)


@pytest.mark.parametrize("token", ["", "wrong-0123456789", TOKENS["read"] + "x"])
async def test_no_route_answers_without_a_known_token(small: Finished, token: str) -> None:
    """Without a token, and with nobody's, every route but the open ones is 401, whatever else is wrong with the request."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with guarded(small) as (client, found):
        for method, path, _ in found:
            if is_open(method, path):
                continue
            for prefix in ("/api", ""):
                reply = await client.request(method, prefix + filled(path), headers=headers)
                assert reply.status_code in (401, 404, 405), (method, prefix, path, reply.status_code)
                if reply.status_code == 401:
                    assert reply.headers["www-authenticate"] == "Bearer"
                    break
            else:
                raise AssertionError(f"{method} {path} is answered by nobody")


async def test_no_route_is_answered_to_a_token_without_its_scope(small: Finished) -> None:
    """A token that may only read, or only run, or only review, is 403 at every route that needs another scope."""
    async with guarded(small) as (client, found):
        for method, path, route in found:
            for needed in scope_of(route) - {"read"}:
                for scope, token in TOKENS.items():
                    if scope == needed:
                        continue
                    told = {"authorization": f"Bearer {token}", "content-type": "application/json"}
                    replies = [
                        await client.request(method, prefix + filled(path), headers=told, content=b"{}")
                        for prefix in ("/api", "")
                    ]
                    assert 403 in {one.status_code for one in replies}, (method, path, scope)
                    assert {one.status_code for one in replies} <= {403, 404, 405}, (method, path, scope)


async def test_labels_of_a_check_need_the_right_to_decide(small: Finished, tmp_path: Path) -> None:
    """They are stored as people's decisions: whoever may only run checks without them."""
    for name in ("data.jsonl", "labels.jsonl"):
        (tmp_path / name).write_text('{"perturbed": "a"}\n')
    body = {"judge": "sim/judge", "data": "data.jsonl", "labels": "labels.jsonl"}
    with service_over(small.home, tokens=tokens(), data_root=tmp_path) as service:
        async with asking(service) as client:
            headers = {"authorization": f"Bearer {TOKENS['run']}"}
            reply = await client.post("/api/judge-checks", json=body, headers=headers)
    assert reply.status_code == 403
    assert "lacks the scope 'review'" in reply.text


async def test_a_token_in_a_query_counts_for_nothing(small: Finished) -> None:
    """A token is taken from the header or the cookie alone, where no log and no address keeps it."""
    async with guarded(small) as (client, _):
        assert (await client.get("/api/runs", params={"token": TOKENS["read"]})).status_code == 401
        told = {"authorization": f"Basic {TOKENS['read']}"}
        assert (await client.get("/api/runs", headers=told)).status_code == 401
        assert (await client.get("/api/runs", headers={"authorization": f"bearer {TOKENS['read']}"})).status_code == 200
        cookie = {"cookie": f"dokimasia_token={TOKENS['read']}"}
        assert (await client.get("/api/runs", headers=cookie)).status_code == 200


def filled(path: str) -> str:
    """A path with something in the place of each parameter."""
    return re.sub(r"\{[^}]*\}", "last", path.replace("{sha256}", "0" * 64))
