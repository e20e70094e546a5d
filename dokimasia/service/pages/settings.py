"""Pages for settings and login, the health check, metrics, and static files of reports."""

import asyncio
import os
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from dokimasia import report
from dokimasia.errors import ConfigError, StorageError
from dokimasia.prompts import default_library
from dokimasia.service.drawing import page
from dokimasia.service.guard import COOKIE
from dokimasia.service.metrics import Metrics
from dokimasia.service.state import WHO_COOKIE, Reader, TheService
from dokimasia.service.wording import as_on_pages
from dokimasia.version import __version__

router = APIRouter()


@router.get("/static/report/{name}")
def asset(request: Request, name: Literal["page.css", "page.js", "plotly.js"]) -> Response:
    """Return a file of the report, or 304 if the browser has it."""
    path = Path(report.__path__[0]) / name
    reply = FileResponse(path, stat_result=path.stat())
    if request.headers.get("if-none-match") == reply.headers["etag"]:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"etag": reply.headers["etag"]})
    return reply


@router.get("/login")
def login(request: Request, next: str = "/") -> Response:
    """Show the form for a token."""
    return page(request, "login.html", next=local_path(next), fault="")


@router.post("/login")
def log_in(
    request: Request, service: TheService, token: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/"
) -> Response:
    """Accept a known token, and redirect to the page that was opened."""
    token_given = token.strip()
    if service.tokens.needed and service.tokens.holder(token_given) is None:
        fault = "this token is not known" if token_given else "a token is needed"
        return page(request, "login.html", status=HTTPStatus.UNAUTHORIZED, next=local_path(next), fault=fault)
    reply = RedirectResponse(local_path(next), HTTPStatus.SEE_OTHER)
    if service.tokens.needed:
        secure = request.headers.get("origin", "").startswith(
            "https:"
        )  # as seen by the browser, whatever proxies are in between
        reply.set_cookie(COOKIE, token_given, httponly=True, samesite="strict", secure=secure)
    return reply


@router.post("/logout")
def log_out() -> Response:
    """Forget the token."""
    reply = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
    reply.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return reply


def local_path(target: str) -> str:
    """Return a path of this service, or `/` for any other address."""
    plain = target.isprintable() and "\\" not in target and target.startswith("/") and not target.startswith("//")
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    if plain and not parts.scheme and not parts.netloc:
        return target
    return "/"


PATIENCE = 2.0
"""Seconds within which a healthy home accepts a write."""


@router.get("/healthz")
async def healthz(service: TheService) -> JSONResponse:
    """Report whether the service accepts requests and its home accepts writes; needs no token, reveals no content."""
    home = service.home
    in_place = await run_in_threadpool(lambda: home.in_place and os.access(home.path, os.W_OK))
    writable = in_place and home.is_writing
    if writable:
        try:
            async with asyncio.timeout(PATIENCE):
                await home.write(lambda connection: connection.execute("PRAGMA user_version").fetchone(), routine=True)
        except (StorageError, TimeoutError):
            writable = False
    status, state = "ok", "writable"
    if not writable:
        status, state = "failing", "in place" if in_place else "gone"
    if service.events.draining:
        status = "draining"
    health = {"status": status, "home": state, "version": __version__}
    return JSONResponse(health, HTTPStatus.OK if status == "ok" else HTTPStatus.SERVICE_UNAVAILABLE)


@router.get("/metrics")
def metrics(request: Request, person: Reader) -> Response:
    """Return the metrics in Prometheus' text form."""
    measured: Metrics = request.app.state.metrics
    return Response(measured.text(), media_type=CONTENT_TYPE_LATEST)


LONGEST = 60
"""Maximum number of characters of a person's name."""

_REVIEW = re.compile(r"/review(/[0-9A-Za-z]+){0,2}")
"""Pages that ask for a name, and to which the form returns."""

A_YEAR = 365 * 24 * 3600


@router.get("/settings")
def settings(request: Request, service: TheService, person: Reader) -> Response:
    """Show the home, the limits and the prompts of the service."""
    library = default_library()
    files, size = _size(service.home.path)
    return page(
        request,
        "settings.html",
        prompts=[library.get(name) for name in library.names()],
        on_page=as_on_pages,
        home=service.home.path,
        size=size,
        files=files,
        config=service.settings.config_path,
        data_root=service.data_root,
        limits=service.limits,
        scopes=sorted(person.scopes),
        known=[holder.name for _, holder in service.tokens.known] if "run" in person.scopes else [],
    )


@router.post("/settings/name")
def call_yourself(
    service: TheService, person: Reader, name: Annotated[str, Form()] = "", back: Annotated[str, Form()] = ""
) -> Response:
    """Store the name of the person in this browser, if no token names them."""
    new_name = " ".join(name.split())
    if service.tokens.needed:
        raise ConfigError("the token says who you are")
    if len(new_name) > LONGEST or not new_name.isprintable():
        raise ConfigError(f"name: write at most {LONGEST} characters, all of which can be printed")
    reply = RedirectResponse(back if _REVIEW.fullmatch(back) else "/settings", 303)
    if new_name:
        reply.set_cookie(WHO_COOKIE, quote(new_name), httponly=True, samesite="strict", max_age=A_YEAR)
    else:
        reply.delete_cookie(WHO_COOKIE)
    return reply


def _size(folder: Path) -> tuple[int, int]:
    """Return the number of files in a home, and their bytes."""
    sizes = list(_sizes(folder))
    return len(sizes), sum(sizes)


def _sizes(folder: Path) -> Iterator[int]:
    for inside, _, files in os.walk(folder):
        for name in files:
            try:
                yield (Path(inside) / name).stat().st_size
            except OSError:  # a temporary file that is gone
                continue
