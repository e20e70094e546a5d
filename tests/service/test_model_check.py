"""The check of a model from the page of models: what it says and keeps, who may ask for it, and what it refuses."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.profiles import list_profiles
from tests.service.conftest import Idle, asking

CHECK = "/models/check"
CONFIG = """
[models."the<b>strong</b>"]
model = "sim/strong"

[models.keyless]
model = "openai/gpt-5"
api_key_env = "A_KEY_THAT_NOBODY_SET"
"""
OWN, TOKEN, OPERATOR = "own-token-0123456789", "ana-token-0123456789", "olga-token-0123456789"


@asynccontextmanager
async def settings_of(tmp_path: Path, **more: Any) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    """A service with two configured models, one of which has no key, and a client of it."""
    (tmp_path / "dokimasia.toml").write_text(CONFIG)
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    with Home.open(settings.home, write=True) as home:
        service = Service(settings=settings, home=home, runner=Idle(), **more)  # type: ignore[arg-type]
        async with asking(service) as client:
            yield service, client


def result(text: str) -> str:
    """What the page says of the check."""
    found = re.search(r'<div id="checked".*?</div>', text, re.DOTALL)
    assert found
    return " ".join(unescape(re.sub("<[^>]+>", " ", found[0])).split())


async def test_a_model_is_checked_and_its_profile_kept(tmp_path: Path) -> None:
    """The page says that the model was reached, in how many seconds and what it can do, and from then on when that was seen."""
    async with settings_of(tmp_path) as (service, client):
        page = (await client.get("/models")).text
        assert page.count(CHECK) == 1, "models that a service simulates need no check"
        assert 'id="checked"' not in page
        reply = await client.post(CHECK, data={"name": "the<b>strong</b>"})
        assert reply.status_code == 200
        said = result(reply.text)
        assert re.match(r"the<b>strong</b> was reached \(\d+\.\d s, 3 calls", said)
        assert "vision: yes" in said
        assert "<b>strong" not in reply.text
        assert not service.checking
        assert [profile.model for profile in list_profiles(service.home)] == ["sim/strong"]


async def test_a_model_without_its_key_is_not_asked(tmp_path: Path) -> None:
    """The page names the variable that is not set and no file of the machine, and nothing is kept."""
    async with settings_of(tmp_path) as (_, client):
        reply = await client.post(CHECK, data={"name": "keyless"})
        assert reply.status_code == 200
        assert "keyless was not asked: the variable A_KEY_THAT_NOBODY_SET is not set" in result(reply.text)
        assert str(tmp_path) not in result(reply.text)


@pytest.mark.parametrize("name", ["openai/gpt-5", "http://127.0.0.1:1/v1", "", "x" * 401])
async def test_only_configured_models_are_checked(tmp_path: Path, name: str) -> None:
    """No name in a request makes the service ask an endpoint that its configuration does not name."""
    async with settings_of(tmp_path) as (_, client):
        reply = await client.post(CHECK, data={"name": name})
        assert reply.status_code in (404, 422)


async def test_a_model_is_checked_once_at_a_time(tmp_path: Path) -> None:
    """While a model is being checked, another check of it is refused."""
    async with settings_of(tmp_path) as (service, client):
        service.checking.add("keyless")
        assert (await client.post(CHECK, data={"name": "keyless"})).status_code == 409


async def test_only_whoever_runs_the_service_checks(tmp_path: Path) -> None:
    """A token without the scope `operate` is refused and sees no button; this user's own commands and operators are not."""
    everything = Caller("ana", frozenset({"read", "run", "review"}))
    operator = Caller("olga", frozenset({"read", "operate"}))
    tokens = AccessTokens(((token_digest(TOKEN), everything), (token_digest(OPERATOR), operator))).with_own(OWN)
    async with settings_of(tmp_path, tokens=tokens) as (_, client):
        told = {"authorization": f"Bearer {TOKEN}"}
        assert CHECK not in (await client.get("/models", headers=told)).text
        refused = await client.post(CHECK, data={"name": "the<b>strong</b>"}, headers=told)
        assert refused.status_code == 403
        assert "lacks the scope 'operate'" in refused.text
        for token in (OWN, OPERATOR):
            allowed = {"authorization": f"Bearer {token}"}
            assert (await client.post(CHECK, data={"name": "the<b>strong</b>"}, headers=allowed)).status_code == 200


async def test_another_page_cannot_check(tmp_path: Path) -> None:
    """A form of a page of another origin spends nothing."""
    async with settings_of(tmp_path) as (_, client):
        headers = {"origin": "http://elsewhere.example", "sec-fetch-site": "cross-site"}
        reply = await client.post(CHECK, data={"name": "the<b>strong</b>"}, headers=headers)
        assert reply.status_code == 403
