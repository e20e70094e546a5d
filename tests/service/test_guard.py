"""What every request passes before a route sees it."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.errors import ConfigError
from dokimasia.service.app import check_address
from dokimasia.service.guard import AccessTokens, Caller, Limits, read_tokens
from tests.report.conftest import Finished
from tests.service.conftest import asking, at_address, service_over

pytestmark = pytest.mark.quick

TOKEN = "0123456789abcdef-reader"


def tokens(folder: Path, lines: str = f"ana read {TOKEN}\n") -> AccessTokens:
    """The tokens of a file that holds these lines."""
    path = folder / "tokens"
    path.write_text(lines)
    path.chmod(0o600)
    return read_tokens(path)


async def test_every_reply_carries_a_policy_and_the_id_of_its_request(client: httpx.AsyncClient) -> None:
    """A reply allows scripts of the service alone, and names its request, by the client's id where it gives one."""
    reply = await client.get("/api/health", headers={"x-request-id": "mine-1"})
    assert reply.json()["status"] == "ok"
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert reply.headers["x-request-id"] == "mine-1"
    assert len((await client.get("/api/health", headers={"x-request-id": "a b\n"})).headers["x-request-id"]) == 16


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
async def test_a_name_that_was_made_to_lead_here_is_refused(client: httpx.AsyncClient, host: str) -> None:
    """A request that names another host is refused, whatever it asks."""
    reply = await client.get("/api/health", headers={"host": host})
    assert reply.status_code == 421
    assert reply.headers["content-type"] == "application/problem+json"


async def test_a_page_of_another_origin_may_not_ask(client: httpx.AsyncClient) -> None:
    """A request with another origin is refused; the service's own pages pass."""
    for origin in ("https://evil.example", "null", "http://localhost:1"):
        assert (await client.post("/api/health", headers={"origin": origin})).status_code == 403
    assert (await client.post("/api/health", headers={"sec-fetch-site": "cross-site"})).status_code == 403
    assert (await client.get("/api/health", headers={"origin": "http://localhost"})).status_code == 200


async def test_a_client_that_asks_too_often_is_told_when_to_come_again(small: Finished) -> None:
    """Beyond the burst a client waits, and is told for how long."""
    with service_over(small.home, limits=Limits(rate=1, burst=3)) as service:
        async with asking(service) as client:
            replies = [await client.get("/api/health") for _ in range(4)]
    assert [one.status_code for one in replies] == [200, 200, 200, 429]
    assert int(replies[-1].headers["retry-after"]) >= 1


def test_a_file_of_tokens_is_read_and_its_faults_are_named_without_a_token(tmp_path: Path) -> None:
    """A token has a holder with scopes; a wrong line is named by its number, and the token is in no message."""
    held = tokens(tmp_path).holder(TOKEN)
    assert held == Caller("ana", frozenset({"read"}))
    assert tokens(tmp_path).holder(TOKEN + "x") is None
    for lines in (f"ana see {TOKEN}", f"ana read short\nx {TOKEN}", f"a read {TOKEN}\nb read {TOKEN}", "# none\n"):
        with pytest.raises(ConfigError, match="--token-file") as caught:
            tokens(tmp_path, lines)
        assert TOKEN not in str(caught.value)
    (tmp_path / "tokens").chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_tokens(tmp_path / "tokens")


def test_an_address_that_others_reach_needs_a_token() -> None:
    """Loopback is served as it is, any other address only with tokens."""
    check_address("127.0.0.1", tokens=False)
    check_address("::1", tokens=False)
    check_address("0.0.0.0", tokens=True)
    for host in ("0.0.0.0", "192.168.1.5", "example.org"):
        with pytest.raises(ConfigError, match="--token-file"):
            check_address(host, tokens=False)


def test_the_service_answers_on_a_real_socket(small: Finished) -> None:
    """A served home answers on loopback, and stops when it is told to."""
    with service_over(small.home) as service, at_address(service) as url:
        reply: Any = httpx.get(f"{url}/api/health").json()
    assert reply["status"] == "ok"
