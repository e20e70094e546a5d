"""Models added in the browser and over HTTP: kept in the home, asked by runs at once, changed by operators alone."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.errors import ConfigError
from dokimasia.service.allowances import Allowances
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from tests.service.working import Working, working

OPERATOR, RUNNER = "olga-token-0123456789", "rudi-token-0123456789"
BROWSER = {"accept": "text/html", "origin": "http://localhost"}
LOCAL = {"name": "mine", "model": "sim/strong", "input_price": "1.5", "rpm": "600", "capabilities": "vision"}


def tokens() -> AccessTokens:
    """An operator, and somebody who begins runs."""
    olga = Caller("olga", frozenset({"read", "operate"}))
    rudi = Caller("rudi", frozenset({"read", "run", "review"}))
    return AccessTokens(((token_digest(OPERATOR), olga), (token_digest(RUNNER), rudi)))


@asynccontextmanager
async def models_of(tmp_path: Path, config: str = "", **more: Any) -> AsyncIterator[Working]:
    """A service whose queue works, with a configuration beside its home."""
    (tmp_path / "dokimasia.toml").write_text(config)
    async with working(tmp_path / "home", **more) as at:
        yield at


def faults(text: str) -> dict[str, str]:
    """What the form says beside its fields, by field."""
    beside: dict[str, str] = {}
    for field in re.findall(r'<div class="field.*?(?=<div class="field|</form>)', text, re.DOTALL):
        name, fault = re.search(r'name="(\w+)"', field), re.search(r'class="fault"[^>]*>([^<]*)', field)
        if name and fault:
            beside[name[1]] = unescape(fault[1])
    return beside


async def test_a_model_is_added_and_checked_and_asked_by_a_run(tmp_path: Path) -> None:
    """Right after it is added, the page lists it, its check reaches it, a run asks it, and other processes know it."""
    write_world(tmp_path / "home.jsonl", 7, 3)
    async with models_of(tmp_path, data_root=tmp_path) as at:
        reply = await at.client.post("/models", data=LOCAL, headers=BROWSER)
        assert (reply.status_code, reply.headers["location"]) == (303, "/models?saved=mine#models")
        assert "was saved" in (await at.client.get(reply.headers["location"])).text
        checked = await at.client.post("/models/check", data={"name": "mine"}, headers=BROWSER)
        assert "was reached" in checked.text
        request = {"data": "home.jsonl", "judge": "sim/judge", "models": ["mine"]}
        run = (await at.client.post("/api/runs/evaluate", json=request)).json()
        assert (await at.ended(run["id"]))["status"] == "done"
    file = tmp_path / "home" / "models.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    spec = load_settings(home=tmp_path / "home", cwd=tmp_path, env={}).models["mine"]
    assert (spec.ref.model, spec.input_price, spec.rpm, spec.capabilities) == ("sim/strong", 1.5, 600, ("vision",))


async def test_every_fault_stands_beside_its_field(tmp_path: Path) -> None:
    """One submission shows all that is wrong, keeps what was entered, and stores nothing."""
    wrong = {
        "name": "two words",
        "model": "openai/gpt-5",
        "api_base": "ftp://somewhere",
        "api_key_env": "sk-an actual key",
        "input_price": "-1",
        "rpm": "many",
        "capabilities": "vision, flying",
        "parameters": "huge",
    }
    async with models_of(tmp_path) as at:
        reply = await at.client.post("/models", data=wrong, headers=BROWSER)
        assert reply.status_code == 422
        beside = faults(reply.text)
        assert set(beside) == set(wrong) - {"model"}
        assert "no spaces" in beside["name"]
        assert "never the key itself" in beside["api_key_env"]
        assert str(tmp_path) not in " ".join(beside.values())
        assert 'value="ftp://somewhere"' in reply.text
        assert not (tmp_path / "home" / "models.toml").exists()
        unnamed = await at.client.post("/models", data={**wrong, "model": "", "transport": "pigeon"}, headers=BROWSER)
        assert set(faults(unnamed.text)) == {*wrong, "transport"}
        assert beside["api_base"].startswith("“Address of the API” is not an address")
        plain = await at.client.post("/models", data={"name": "two words", "transport": ""}, headers=BROWSER)
        opened = [re.findall(r'<details class="group"( open)?>', page.text) for page in (plain, unnamed)]
        assert opened == [[""], [" open"]]
        empty = await at.client.post("/models", data={"name": "", "model": ""}, headers=BROWSER)
        assert set(faults(empty.text)) == {"name", "model"}


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"parameters": "huge"}, "parameters", "write a size such as 7B or 235B-A22B"),
        ({"transport": "pigeon"}, "transport", "no transport 'pigeon'; there are: direct, litellm, sim and auto"),
        ({"api_base": "x y"}, "api_base", "“Address of the API” is not an address such as http://127.0.0.1:8000/v1"),
        ({"api_base": "http://x y/v1"}, "api_base", "“Address of the API” is not an address such as"),
        (
            {"endpoint": "x y"},
            "endpoint",
            "write a name without spaces, or an address such as http://127.0.0.1:8000/v1",
        ),
        ({"model": "x y"}, "model", "own that speaks OpenAI's format write hosted_vllm/NAME, and its address"),
    ],
)
async def test_a_fault_says_what_to_write(tmp_path: Path, sent: dict[str, str], field: str, message: str) -> None:
    """A refused setting has its fault beside its own field, and the fault says what is accepted."""
    async with models_of(tmp_path) as at:
        reply = await at.client.post("/models", data={"name": "mine", "model": "openai/gpt-5", **sent}, headers=BROWSER)
    beside = faults(reply.text)
    assert set(beside) == {field}
    assert message in beside[field]


async def test_a_refused_key_is_not_shown_again(tmp_path: Path) -> None:
    """A key pasted into the field for the name of its variable does not come back with the form."""
    async with models_of(tmp_path) as at:
        pasted = {"name": "mine", "model": "openai/gpt-5", "api_key_env": "sk-an actual key"}
        reply = await at.client.post("/models", data=pasted, headers=BROWSER)
    assert set(faults(reply.text)) == {"api_key_env"}
    assert "sk-an actual key" not in reply.text
    assert 'value="openai/gpt-5"' in reply.text


@pytest.mark.parametrize(
    ("sent", "accepted"),
    [
        ({"model": "nonsense"}, False),
        ({"model": "nobody/nonsense"}, False),
        ({"model": "nonsense", "api_base": "http://127.0.0.1:8000/v1"}, False),
        ({"model": "nonsense", "api_base": "http://127.0.0.1:8000/v1", "transport": "direct"}, True),
        ({"model": "hosted_vllm/nonsense", "api_base": "http://127.0.0.1:8000/v1"}, True),
        ({"model": "gpt-4o"}, True),
        ({"model": "openai/gpt-5"}, True),
    ],
)
async def test_a_name_that_litellm_cannot_ask_is_refused(tmp_path: Path, sent: dict[str, str], accepted: bool) -> None:
    """A name without a provider is refused beside its field, with the two ways out; what can be asked is kept."""
    async with models_of(tmp_path) as at:
        reply = await at.client.post("/models", data={"name": "mine", **sent}, headers=BROWSER)
        put = await at.client.put("/api/models/other", json=sent)
    if accepted:
        assert (reply.status_code, put.status_code) == (303, 200)
        return
    assert put.status_code == 422
    assert f"LiteLLM knows no provider of '{sent['model']}': write PROVIDER/MODEL" in put.json()["detail"]
    assert reply.status_code == 422
    beside = faults(reply.text)
    assert set(beside) == {"model"}
    assert beside["model"].startswith(f"LiteLLM knows no provider of '{sent['model']}'")
    assert "“Address of the API”" in beside["model"]


async def test_the_configuration_takes_precedence(tmp_path: Path) -> None:
    """A name of dokimasia.toml is refused beside the field; one that clashes later is the configuration's."""
    config = '[models.mine]\nmodel = "sim/weak"\n'
    async with models_of(tmp_path, config) as at:
        reply = await at.client.post("/models", data=LOCAL, headers=BROWSER)
        assert "dokimasia.toml" in faults(reply.text)["name"]
        refused = await at.client.put("/api/models/mine", json={"model": "sim/strong"})
        assert refused.status_code == 422
        assert (await at.client.delete("/api/models/mine")).status_code == 404
    (tmp_path / "home" / "models.toml").write_text('[models.mine]\nmodel = "sim/strong"\n')
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    assert (settings.models["mine"].ref.model, settings.added) == ("sim/weak", frozenset())


async def test_an_added_model_is_edited_and_removed(tmp_path: Path) -> None:
    """The form shows what was stored, keeps the sampling that it does not show, and a second model of a name is refused."""
    async with models_of(tmp_path) as at:
        extra = {"a b": [1, {"c": "d\n\u007f", "key": "any"}], "schema": {"token": {"type": "string"}}}
        sent = {"model": "sim/strong", "sampling": {"temperature": 0.5, "extra": extra}}
        assert (await at.client.put("/api/models/a/b", json=sent)).json()["added"] is True
        page = (await at.client.get("/models", params={"edit": "a/b"})).text
        assert 'value="sim/strong"' in page
        assert "Its sampling stays as it is" in page
        again = await at.client.post("/models", data={"name": "a/b", "model": "sim/weak"}, headers=BROWSER)
        assert "was added before" in faults(again.text)["name"]
        edited = {"edited": "a/b", "model": "sim/weak", "timeout": "30"}
        assert (await at.client.post("/models", data=edited, headers=BROWSER)).status_code == 303
        spec = load_settings(home=tmp_path / "home", cwd=tmp_path, env={}).models["a/b"]
        assert (spec.ref.model, spec.timeout, spec.sampling.temperature) == ("sim/weak", 30.0, 0.5)
        assert spec.sampling.extra == extra
        assert (await at.client.post("/models/remove", data={"name": "a/b"}, headers=BROWSER)).status_code == 303
        assert (await at.client.get("/models", params={"edit": "a/b"})).status_code == 404
        assert (await at.client.get("/api/models")).json() == {"models": []}


async def test_a_model_that_a_run_waits_for_stays(tmp_path: Path) -> None:
    """While a run waits for a person, the models that it asks are neither changed nor removed."""
    write_world(tmp_path / "home.jsonl", 7, 3)
    async with models_of(tmp_path, data_root=tmp_path) as at:
        await at.client.put("/api/models/mine", json={"model": "sim/strong"})
        request = {"data": "home.jsonl", "judge": "human/ana", "models": ["mine"], "limit": 1}
        run = (await at.client.post("/api/runs/evaluate", json=request)).json()
        assert (await at.ended(run["id"]))["status"] == "waiting"
        refused = await at.client.delete("/api/models/mine")
        assert (refused.status_code, run["id"] in refused.text) == (409, True)
        refused = await at.client.put("/api/models/mine", json={"model": "sim/weak"})
        assert (refused.status_code, run["id"] in refused.text) == (422, True)
        page = await at.client.post("/models", data={"edited": "mine", "model": "sim/weak"}, headers=BROWSER)
        assert (page.status_code, run["id"] in page.text) == (422, True)


@pytest.mark.parametrize("token", [OPERATOR, RUNNER])
async def test_operators_alone_change_models(tmp_path: Path, token: str) -> None:
    """A token without the scope `operate` gets no form and is refused at every route; with it, it may."""
    client = {"headers": {"authorization": f"Bearer {token}", **BROWSER}}
    async with models_of(tmp_path, tokens=tokens(), client=client) as at:
        page = (await at.client.get("/models")).text
        may = token == OPERATOR
        assert ('id="model-form"' in page, "it lacks the scope operate" in page) == (may, not may)
        put = await at.client.put("/api/models/other", json={"model": "sim/weak"})
        posted = await at.client.post("/models", data=LOCAL)
        removed = await at.client.delete("/api/models/other")
        assert [reply.status_code for reply in (put, posted, removed)] == ([200, 303, 200] if may else [403, 403, 403])
        assert (tmp_path / "home" / "models.toml").exists() is may


async def test_limits_of_the_service_hold_for_added_models(tmp_path: Path) -> None:
    """With --models-only a run asks an added model and no other; with --max-cost its price has to be known."""
    write_world(tmp_path / "home.jsonl", 7, 3)
    allowances = Allowances(max_cost=1.0, models_only=True)
    async with models_of(tmp_path, data_root=tmp_path, allowances=allowances) as at:
        request = {"data": "home.jsonl", "judge": "sim/judge", "limit": 1}
        address = {"model": "openai/unheard-of", "api_base": "http://127.0.0.1:9/v1"}
        await at.client.put("/api/models/mine", json={"model": "sim/strong"})
        await at.client.put("/api/models/unpriced", json=address)
        other = await at.client.post("/api/runs/evaluate", json={**request, "models": ["openai/unheard-of"]})
        assert "asks only the models" in other.text
        unpriced = await at.client.post("/api/runs/evaluate", json={**request, "models": ["unpriced"]})
        assert (unpriced.status_code, "price" in unpriced.text) == (422, True)
        begun = await at.client.post("/api/runs/evaluate", json={**request, "models": ["mine"]})
        assert (await at.ended(begun.json()["id"]))["status"] == "done"


async def test_the_key_of_an_added_model_is_read_and_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variable is read when it is added; its value leaves the service in no text, whatever the variable is called."""
    monkeypatch.setenv("PLAIN_WORDS", "correct-horse-battery")
    async with models_of(tmp_path) as at:
        sent = {"model": "openai/gpt-5", "api_key_env": "PLAIN_WORDS"}
        assert (await at.client.put("/api/models/mine", json=sent)).json()["key"] == "set"
        assert "correct-horse-battery" not in at.service.redact("it is correct-horse-battery")
        echoed = await at.client.put("/api/models/correct-horse-battery", json={"model": "sim/weak"})
        assert "correct-horse-battery" not in echoed.text


async def test_a_page_of_another_origin_adds_nothing(tmp_path: Path) -> None:
    """A form of another site is refused."""
    async with models_of(tmp_path) as at:
        headers = {"origin": "http://elsewhere.example", "sec-fetch-site": "cross-site"}
        assert (await at.client.post("/models", data=LOCAL, headers=headers)).status_code == 403


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """A file that somebody broke, or wrote a key into, is named in the error."""
    (tmp_path / "home").mkdir()
    for text in ("[models", '[models.a]\nmodel = "x/y"\napi_key = "abc"\n', "[other]\n"):
        (tmp_path / "home" / "models.toml").write_text(text)
        with pytest.raises(ConfigError, match=r"home/models\.toml"):
            load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": ""},
        {"model": "x/y", "api_key": "abc"},
        {"model": "x/y", "rpm": "600"},
        {"model": "x/y", "sampling": {"extra": {"a": None}}},
        {"model": "human/ana", "input_price": 1},
        {"model": "x/y", "api_base": "http://user:word@host/v1"},
        {"model": "x/y", "api_key_env": "AIzaSyA1234567890abcdefghijklmnopq"},
        {"model": "x/y", "api_key_env": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz"},
        {"model": "x/y", "sampling": {"extra": {"headers": [{"Authorization": "Bearer abc"}]}}},
    ],
)
async def test_a_body_that_cannot_be_used_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    """Nothing is stored of it."""
    async with models_of(tmp_path) as at:
        reply = await at.client.put("/api/models/mine", json=body)
        assert reply.status_code == 422, reply.text
        assert not (tmp_path / "home" / "models.toml").exists()


async def test_a_person_is_listed_with_an_hourly_rate(tmp_path: Path) -> None:
    """A person among the models has a price by the hour on the page."""
    async with models_of(tmp_path) as at:
        assert (await at.client.put("/api/models/ana", json={"model": "human/ana", "hourly_rate": 30})).is_success
        page = await at.client.get("/models")
        assert "30 an hour" in page.text


async def test_names_are_shown_as_text(tmp_path: Path) -> None:
    """A name with markup stays text, in the table and in the addresses of its buttons."""
    async with models_of(tmp_path) as at:
        name = 'a"<b>&x'
        reply = await at.client.post("/models", data={"name": name, "model": "sim/weak"}, headers=BROWSER)
        page = (await at.client.get(reply.headers["location"])).text
        assert "<b>&x" not in page
        edit = re.search(r'href="(/models\?edit=[^"#]*)', page)
        assert edit
        assert httpx.URL(unescape(edit[1])).params["edit"] == name
        assert (await at.client.get(unescape(edit[1]))).status_code == 200
