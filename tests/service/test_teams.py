"""What several people who share a service rely on: tokens that change, health checks, no path of the home, and a description."""

import asyncio
import io
import os
import zipfile
from pathlib import Path

import httpx
import pytest

from dokimasia.client import Client
from dokimasia.client import connection as client_connection
from dokimasia.errors import ConfigError
from dokimasia.service.guard import follow_tokens, read_tokens
from dokimasia.storage.home import Home
from dokimasia.version import __version__
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.working import working

OLD, NEW = "old-token-0123456789", "new-token-0123456789"


def bearer(token: str) -> dict[str, str]:
    """The header with a token."""
    return {"authorization": f"Bearer {token}"}


async def until(condition: object) -> None:
    """Let the loop work until something is the case."""
    assert callable(condition)
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """A file with one token."""
    path = tmp_path / "tokens"
    path.write_text(f"ana read,run {OLD}\n")
    path.chmod(0o600)
    return path


async def test_tokens_change_without_a_restart(small: Finished, token_file: Path) -> None:
    """A new token is taken and the old one refused once the file is changed; a broken file changes nothing."""
    tokens = read_tokens(token_file)
    with service_over(small.home, tokens=tokens) as service:
        following = asyncio.create_task(follow_tokens(token_file, tokens, interval=0.01))
        async with asking(service) as client:
            assert (await client.get("/api/runs", headers=bearer(OLD))).status_code == 200
            new = token_file.with_name("new")
            new.write_text(f"ana read,run {NEW}\nben read {NEW}2\n")
            new.chmod(0o600)
            new.replace(token_file)
            await until(lambda: len(tokens.known) == 2)
            assert (await client.get("/api/runs", headers=bearer(OLD))).status_code == 401
            assert (await client.get("/api/runs", headers=bearer(NEW))).status_code == 200
            token_file.write_text("nonsense\n")
            await asyncio.sleep(0.1)
            assert (await client.get("/api/runs", headers=bearer(NEW))).status_code == 200
        following.cancel()


async def test_a_balancer_asks_for_health_by_address(small: Finished) -> None:
    """`/healthz` is answered under any name, and nothing else is."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            assert (await client.get("/healthz", headers={"host": "10.1.2.3:8181"})).status_code == 200
            assert (await client.get("/api/health", headers={"host": "10.1.2.3:8181"})).status_code == 421


async def test_messages_do_not_name_the_home_to_holders_of_tokens(tmp_path: Path, token_file: Path) -> None:
    """Of a file that is not there only what was asked for is said."""
    async with working(tmp_path / "home", tokens=read_tokens(token_file)) as service:
        body = {"data": "upload:none.jsonl", "judge": "sim/judge", "models": ["sim/strong"], "prompts": ["upload:no"]}
        reply = await service.client.post("/api/runs/evaluate", json=body, headers=bearer(OLD))
        assert reply.status_code in (404, 422)
        assert str(tmp_path) not in reply.text


async def test_the_description_says_how_to_authenticate(small: Finished, token_file: Path) -> None:
    """OpenAPI has the scheme, and each route of a service with tokens names it unless it is open."""
    with service_over(small.home, tokens=read_tokens(token_file)) as service:
        async with asking(service) as client:
            description = (await client.get("/api/openapi.json")).json()
    assert description["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert description["paths"]["/api/runs"]["get"]["security"] == [{"token": []}]
    assert description["paths"]["/api/health"]["get"].get("security") is None


async def test_a_zip_of_too_many_files_is_refused_by_its_directory(
    small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file of it is unpacked."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(20_001):
            archive.writestr(f"{number}.txt", b"")
    monkeypatch.setattr("dokimasia.service.uploads._unpack_one", lambda *_: pytest.fail("a file was unpacked"))
    with service_over(small.home) as service:
        async with asking(service) as client:
            reply = await client.post("/api/uploads", files={"file": ("many.zip", packed.getvalue())})
    assert reply.status_code == 413
    assert "more than 20,000 files" in reply.json()["detail"]


def test_a_client_says_that_a_login_page_is_no_service() -> None:
    """HTML with status 200, as of a captive portal, is an error with the way out."""
    page = httpx.Response(200, html="<h1>Welcome to the airport</h1>")
    with (
        Client("http://judge.example.org", transport=httpx.MockTransport(lambda request: page)) as client,
        pytest.raises(ConfigError, match="answers with text/html where a service of Dokimasia answers with JSON"),
    ):
        client.health()


def test_a_client_reads_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply without an end is given up, and sooner where no service of Dokimasia sent it."""
    monkeypatch.setattr(client_connection, "MOST_REPLY", 1_000)
    monkeypatch.setattr(client_connection, "MOST_PAGE", 100)
    for headers, most in (({"dokimasia-version": __version__}, "1,000"), ({}, "100")):
        reply = httpx.Response(200, content=b"1" * 2_000, headers=headers)
        with (
            Client(
                "http://judge.example.org", transport=httpx.MockTransport(lambda request, reply=reply: reply)
            ) as client,
            pytest.raises(ConfigError, match=f"more than {most} bytes"),
        ):
            client.health()


def test_a_home_is_its_owners(tmp_path: Path) -> None:
    """A new home is closed to others; of an older one, other users lose the database."""
    before = os.umask(0o022)
    try:
        with Home.open(tmp_path / "new", write=True) as home:
            assert home.path.stat().st_mode & 0o777 == 0o700
            assert home.database.stat().st_mode & 0o777 == 0o600
        home.database.chmod(0o664)
        with Home.open(tmp_path / "new", write=True):
            assert home.database.stat().st_mode & 0o777 == 0o660
    finally:
        os.umask(before)
