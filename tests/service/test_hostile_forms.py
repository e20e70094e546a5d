"""Forms of every page that nobody would send: malformed, missing, doubled, huge and foreign fields."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
import pytest
from fastapi.routing import APIRoute

from dokimasia.service.app import page_routers
from dokimasia.storage.runs import get_run
from tests.report.conftest import Finished
from tests.service.waiting import Waits
from tests.service.working import working

BROWSER = {"accept": "text/html", "origin": "http://localhost"}
FORM = "application/x-www-form-urlencoded"
ODD = (
    "", " ", "\0", "\ud800", "%", "score", "last", "-1", "1e309", "9" * 400, "nan", "{}", "[]", "null", "../..", "a=b",
    "human/", "human/\n", "sim/strong", "https://example.org/v1", "upload:x", "upload:/../..", "x" * 20_000, "é\u202e", "@", "#",
    "judge:", "models:sim/strong", "<ROOT>", "9" * 19, "9" * 5_000, "caption", "accept", "unsupported", "1,2,3", "\n\r", "a" * 90,
)  # fmt: skip
"""Values that a field may be given; `\\ud800` is no text in any encoding."""


MORE = {
    "/new/{method}": (
        "data",
        "models",
        "judge",
        "responses",
        "limit",
        "prices",
        "do",
        "max_cost",
        "name",
        "tags",
        "prompts",
    ),
    "/passports": ("file",),
}
"""Fields of forms that are read without a description."""


class Form(NamedTuple):
    """A form of a page: where it is sent, and which fields it has."""

    path: str
    fields: tuple[str, ...]


def forms() -> list[Form]:
    """Every route of a page that a form is sent to, with its fields by its own description."""
    routes = [route for router in page_routers() for route in router.routes]
    return [
        Form(route.path, (*(one.alias for one in route.dependant.body_params), *MORE.get(route.path, ())))
        for route in routes
        if isinstance(route, APIRoute) and "POST" in route.methods
    ]


def bodies(fields: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Content types and bodies that are wrong in one way each."""
    yield FORM, b""
    yield FORM, b"&&==&%&%zz=%ff&\xff\xfe"
    yield FORM, b"a=1&" * 2_000
    yield "multipart/form-data", b"no boundary"
    yield "multipart/form-data; boundary=b", b"--b\r\nnonsense"
    yield "multipart/form-data; boundary=b", b'--b\r\ncontent-disposition: form-data; name="x"\r\n\r\nbroken off'
    yield "application/json", b'{"node": 1}'
    yield "text/plain", b"\x00\x01"
    yield "", b"x"
    yield "multipart/form-data; boundary=b", _multipart([("file", "f.json", b"\xff\xfe{")])
    yield "multipart/form-data; boundary=b", _multipart([(one, "f", b"\0") for one in fields or ("file",)])
    for odd in ODD:
        yield FORM, _encoded([(one, odd) for one in fields])
        yield FORM, _encoded([(one, odd) for one in fields for _ in range(2)])
        yield (
            "multipart/form-data; boundary=b",
            _multipart([(one, "", odd.encode(errors="surrogatepass")) for one in fields]),
        )
    for one in fields:
        others = [(name, "1") for name in fields if name != one]
        for odd in ("", "\0", "\ud800", "-1", "9" * 19, "9" * 5_000, "x" * 20_000):
            yield FORM, _encoded([*others, (one, odd), ("foreign", odd)])


def _encoded(pairs: list[tuple[str, str]]) -> bytes:
    return urlencode(pairs, errors="surrogatepass").encode()


def _multipart(parts: list[tuple[str, str, bytes]]) -> bytes:
    named = (
        f'--b\r\ncontent-disposition: form-data; name="{name}"{f"; filename={file}" if file else ""}\r\n\r\n'.encode()
        + value
        for name, file, value in parts
    )
    return b"\r\n".join([*named, b"--b--\r\n"])


async def send_all(client: httpx.AsyncClient, form: Form, path: str) -> list[str]:
    """What was answered by a 5xx, or by a refusal without a page that says why, each with what was sent."""
    wrong: list[str] = []
    for kind, body in bodies(form.fields):
        headers = {**BROWSER, **({"content-type": kind} if kind else {})}
        reply = await client.post(path, content=body, headers=headers)
        told = reply.status_code < 400 or 'class="notice bad"' in reply.text or 'role="alert"' in reply.text
        if reply.status_code >= 500 or not told:
            wrong.append(f"{form.path} {reply.status_code} {kind} {body[:120]!r}: {reply.text[-300:]}")
    return wrong


def path_of(form: Form, **places: str) -> str:
    """The path of a form with what its parts stand for."""
    path = form.path
    for name, value in {"method": "evaluate", "tree": "none", "item": "none", **places}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


HELD = ("/runs/{run}/delete", "/runs/{run}/cancel", "/runs/{run}/resume")
"""Forms without fields that end or begin what other forms are sent to."""


@pytest.mark.parametrize("form", [one for one in forms() if one.path not in HELD], ids=lambda one: one.path)
async def test_no_form_is_answered_by_an_internal_error(form: Form, waiting: Waits, tmp_path: Path) -> None:
    """Every form of every page answers whatever it is sent with a page that leads on or says why not."""
    async with working(waiting.home) as at:
        runs = waiting.runs
        items = (await at.client.get(f"/api/reviews/{runs['captions']}")).json()["items"]
        trees = (await at.client.get("/api/trees")).json()["trees"]
        run = runs["captions"] if "review" in form.path else runs["tree"]
        path = path_of(form, run=run, item=items[0]["item"], tree=trees[0]["tree"])
        wrong = await send_all(at.client, form, path)
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("step", ["", "score", "answer", "none", "\0", "x" * 5_000])
async def test_no_fork_is_answered_by_an_internal_error(step: str, small: Finished, tmp_path: Path) -> None:
    """A step, well or ill named, with whatever stands in the places of models is begun or refused in a sentence."""
    shutil.copytree(small.home, tmp_path / "home")
    async with working(tmp_path / "home") as at:
        judge = f"judge:{get_run(at.service.home, small.run).options['request']['judge']}"
        for old in (judge, "judge:", "judge", "models:sim/strong", "models:", "", "bogus:x", "\ud800"):
            for new in (
                "human/",
                "human/\n",
                "https://x/y",
                "\0",
                "\ud800",
                "x" * 3_000,
                "a=b",
                "a,b",
                "sim/",
                "sim/strong?x",
            ):
                body = _encoded([("node", step), ("old", old), ("old", old), ("new", new), ("from", step)])
                headers = {**BROWSER, "content-type": FORM}
                reply = await at.client.post(f"/runs/{small.run}/fork", content=body, headers=headers)
                assert reply.status_code == 303 or 400 <= reply.status_code < 500, (old, new, reply.text)
