"""Checking models: what each endpoint does is seen, paid for once, and kept as its profile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ChatReply, ImageEdit, ImageEditReply, ModelRef, ModelSpec, Usage
from dokimasia.endpoints.models import KeyListed, list_models
from dokimasia.endpoints.probing import COLOURS, bands, check_models, draw_bands, probes
from dokimasia.errors import TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.structured import main_colours
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.profiles import list_profiles, load_profile

Answer = Callable[[Chat], ChatReply]
SPEC = ModelSpec(
    ref=ModelRef(name="M", model="some/model", endpoint="here"), transport="fake", input_price=1, output_price=1
)


def says(text: str, **fields: Any) -> ChatReply:
    """A plain reply."""
    return ChatReply(**{"text": text, "finish_reason": "stop", **fields})


async def check(settings: Settings, answer: Answer, spec: ModelSpec = SPEC) -> Any:
    """Check one model behind a fake transport."""
    (checked,) = await check_models([spec], settings=settings, transports={"fake": CountingTransport(answer)})
    return checked


def test_pictures_are_drawn_as_they_are_asked_for() -> None:
    """The drawn bands are read back from the pixels; codes differ in colours and no picture begins with red."""
    drawn = {code: bands(code) for code in map(str, range(60))}
    assert len(set(drawn.values())) > 20
    for colours_of in drawn.values():
        assert len(set(colours_of)) == 3
        assert colours_of[0] != "red"
    for code in ("1", "2", "3"):
        ref, data = draw_bands(drawn[code])
        assert main_colours(data) == list(drawn[code])
        assert draw_bands(drawn[code]) == (ref, data)
    assert set(COLOURS) == {colour for one in drawn.values() for colour in one}


def test_requests_are_short_and_each_check_is_new() -> None:
    """The token limit is small whatever the model's own is, and another code is another request."""
    long = SPEC.model_copy(
        update={"sampling": SPEC.sampling.model_copy(update={"max_tokens": 99_999, "temperature": 0.5})}
    )
    for probe, other in zip(probes(long, "a"), probes(long, "b"), strict=True):
        assert probe.call.sampling.max_tokens == 1024
        assert probe.call.sampling.temperature == 0.5
        assert probe.call != other.call
    short = SPEC.model_copy(update={"sampling": SPEC.sampling.model_copy(update={"max_tokens": 50})})
    assert probes(short, "a")[0].call.sampling.max_tokens == 50


@pytest.mark.parametrize("transport", ["direct", "litellm"])
async def test_a_server_is_checked_through_every_transport(tmp_path: Path, transport: str) -> None:
    """A simulated server is seen to do everything; the profile is kept, the calls are in the ledger and priced."""
    home = tmp_path / "home"
    with running_server() as url:
        config = tmp_path / "dokimasia.toml"
        config.write_text(
            f'[models.own]\nmodel = "openai/sim/weak"\nendpoint = "sim-server"\napi_base = "{url}"\n'
            f'transport = "{transport}"\ninput_price = 1.0\noutput_price = 2.0\n'
        )
        settings = load_settings(config=config, home=home, env={})
        first = await check_models(list(settings.models.values()), settings=settings)
        again = await check_models(list(settings.models.values()), settings=settings)
    for (checked,) in (first, again):
        profile = checked.profile
        assert checked.reachable
        assert profile is not None
        assert profile.capabilities == ("vision", "json_schema", "tools")
        assert (profile.transport, profile.usage, profile.finish_reasons) == (transport, True, ("stop", "tool_calls"))
        assert checked.calls == 3
        assert checked.cost is not None
        assert checked.cost > 0
    with Home.open(home, write=False) as opened:
        assert opened.all("SELECT label, count(*), count(cost) FROM calls GROUP BY label") == [("probe", 6, 6)]
        assert list(SqliteLedger(opened).verify()) == []
        assert load_profile(opened, settings.models["own"].ref) == again[0].profile


async def test_an_endpoint_that_does_nothing_of_it_is_found_out(settings: Settings) -> None:
    """Guesses, chatter and a tool that is not called are a plain no, with what was said."""
    checked = await check(settings, lambda call: says("Red, green and blue, I suppose."))
    assert checked.reachable
    assert {finding.verdict for finding in checked.profile.findings.values()} == {"no"}
    assert "Red, green and blue" in checked.profile.vision.note
    assert checked.profile.usage is False
    assert checked.cost is None


async def test_declined_cut_and_failed_requests_are_told_apart(settings: Settings) -> None:
    """A declined request is a no, one that was cut off or failed in passing says nothing; the model is reached."""

    def answer(call: Chat) -> ChatReply:
        if call.tools:
            raise TransportError("bad_request", "tools are not supported", retryable=False, status=400)
        if call.output_schema is not None:
            raise TransportError("server_error", "out of order", retryable=False, status=500)
        return says("The first", finish_reason="length", usage=Usage(input_tokens=9, output_tokens=1))

    checked = await check(settings, answer)
    profile = checked.profile
    assert [one.verdict for one in profile.findings.values()] == ["unknown", "unknown", "no"]
    assert "cut at its token limit" in profile.vision.note
    assert profile.json_schema.note == "server_error: out of order (status 500)"
    assert profile.tools.note == "bad_request: tools are not supported (status 400)"
    assert (checked.calls, profile.usage) == (1, True)


async def test_a_model_without_eyes_is_still_reached(settings: Settings) -> None:
    """An endpoint that declines images answers the other requests."""

    def answer(call: Chat) -> ChatReply:
        if any(message.images for message in call.messages):
            raise TransportError("bad_request", "no images here", retryable=False, status=400)
        return says("", refusal="I would rather not.")

    checked = await check(settings, answer)
    assert checked.reachable
    assert [one.verdict for one in checked.profile.findings.values()] == ["no", "unknown", "unknown"]


async def test_wrong_tool_calls_are_named(settings: Settings) -> None:
    """Another tool, other arguments, or arguments that are no JSON are not the tool call that was asked for."""

    def calling(name: str, arguments: str) -> Answer:
        tool = {"id": "1", "name": name, "arguments": arguments}
        return lambda call: says("", tool_calls=(tool,)) if call.tools else says("Yes.")

    wrong = [("keep_number", '{"number": 5}'), ("other", "{}"), ("keep_number", "{")]
    for name, arguments in wrong:
        checked = await check(settings, calling(name, arguments))
        assert checked.profile.tools.verdict == "no"
        assert name in checked.profile.tools.note


async def test_an_unreachable_model_is_asked_once_and_keeps_its_profile(settings: Settings) -> None:
    """A refused key ends the check at the first request, with its kind and message and without a new profile."""
    await check(settings, lambda call: says("Yes."))
    with Home.open(settings.home, write=False) as home:
        before = list_profiles(home)
    sent: list[Chat] = []

    def refuse(call: Chat) -> ChatReply:
        sent.append(call)
        raise TransportError("auth", "who are you?", retryable=False, status=401)

    (checked,) = await check_models([SPEC], settings=settings, transports={"fake": CountingTransport(refuse)}, code="d")
    assert not checked.reachable
    assert checked.profile is None
    assert checked.problem is not None
    assert (checked.problem.kind, checked.problem.message) == ("auth", "who are you? (status 401)")
    assert len(sent) == 1
    with Home.open(settings.home, write=False) as home:
        assert list_profiles(home) == before != []


async def test_what_cannot_be_sent_is_a_problem_of_that_model_alone(tmp_path: Path) -> None:
    """A key that is not set, or a transport that there is not, is named; the other models are checked."""
    config = tmp_path / "dokimasia.toml"
    config.write_text(
        '[models.keyless]\nmodel = "sim/weak"\napi_key_env = "NO_SUCH_KEY"\n'
        '[models.odd]\nmodel = "sim/weak"\ntransport = "pigeon"\n[models.fine]\nmodel = "sim/weak"\n'
    )
    settings = load_settings(config=config, home=tmp_path / "home", env={})
    checked = {one.name: one for one in await check_models(list(settings.models.values()), settings=settings)}
    assert {name: one.reachable for name, one in checked.items()} == {"keyless": False, "odd": False, "fine": True}
    for name, said in (("keyless", "NO_SUCH_KEY is not set"), ("odd", "no transport 'pigeon'")):
        problem = checked[name].problem
        assert problem is not None
        assert problem.kind == "configuration"
        assert said in problem.message


async def test_no_key_stands_in_what_is_kept(tmp_path: Path) -> None:
    """A key that an endpoint echoes is taken out of findings, problems and the home's files."""
    key = "secret-4f1b9d2c7a"
    config = tmp_path / "dokimasia.toml"
    config.write_text('[models.M]\nmodel = "a/b"\nendpoint = "here"\ntransport = "fake"\napi_key_env = "MY_KEY"\n')
    settings = load_settings(config=config, home=tmp_path / "home", env={"MY_KEY": key})
    (spec,) = settings.models.values()
    (told,) = await check_models(
        [spec], settings=settings, transports={"fake": CountingTransport(lambda call: says(f"key {key}"))}
    )
    assert key not in told.model_dump_json()
    listed = list_models(settings, [spec], transports=["fake"])
    assert listed[0].key == KeyListed(variable="MY_KEY", present=True)
    assert key not in str(listed)
    assert all(key.encode() not in path.read_bytes() for path in settings.home.rglob("*") if path.is_file())


async def test_a_check_shows_the_largest_picture_that_a_run_would_send(settings: Settings) -> None:
    """A model with a `max_image_side` is shown a picture of that width, and any other one a small one."""
    sizes: list[tuple[int, int]] = []

    def look(call: Chat) -> ChatReply:
        sizes.extend((image.width, image.height) for message in call.messages for image in message.images)
        return says("I see.")

    await check(settings, look)
    await check(settings, look, SPEC.model_copy(update={"max_image_side": 1000}))
    assert sizes == [(192, 96), (1000, 500)]


@pytest.mark.parametrize("transport", ["direct", "litellm"])
async def test_an_image_model_is_asked_for_an_edit_and_never_to_chat(tmp_path: Path, transport: str) -> None:
    """What is marked as an image model is sent one image to edit; the profile says that it does, and the list, too."""
    config = tmp_path / "dokimasia.toml"
    with running_server() as url:
        config.write_text(
            f'[models.own]\nmodel = "openai/sim/editor"\nendpoint = "sim-server"\napi_base = "{url}"\n'
            f'transport = "{transport}"\nimage_price = 0.04\n'
        )
        settings = load_settings(config=config, home=tmp_path / "home", env={})
        (checked,) = await check_models(list(settings.models.values()), settings=settings)
    assert checked.profile is not None
    assert checked.profile.capabilities == ("image_edit",)
    assert (checked.calls, checked.cost, checked.profile.usage) == (1, 0.04, True)
    (listed,) = list_models(settings, list(settings.models.values()))
    assert listed.measured is not None
    assert listed.measured.findings["image_edit"].verdict == "yes"
    assert listed.as_json()["price"] == {"input": None, "output": None, "image": 0.04, "source": "configuration"}


async def test_an_image_model_that_refuses_or_fails_is_told_apart(settings: Settings) -> None:
    """A refused edit says nothing of what the model can do; a declined one is unreachable with its problem."""
    spec = SPEC.model_copy(update={"capabilities": ("image_edit",)})
    asked: list[Any] = []

    def refuse(call: Any) -> Any:
        asked.append(call)
        return ImageEditReply(refusal="Not this.")

    checked = await check(settings, refuse, spec)
    assert checked.profile.findings["image_edit"].verdict == "unknown"
    assert "Not this." in checked.profile.findings["image_edit"].note
    assert [isinstance(call, ImageEdit) for call in asked] == [True]

    def decline(call: Any) -> Any:
        raise TransportError("bad_request", "no such size", retryable=False, status=400)

    checked = await check(settings, decline, spec)
    assert not checked.reachable
    assert checked.problem.kind == "bad_request"


async def test_the_simulated_image_models_are_checked_as_such(settings: Settings) -> None:
    """A simulated image model needs no mark."""
    ref = ModelRef(name="sim/editor", model="sim/editor", endpoint="sim")
    (checked,) = await check_models([ModelSpec(ref=ref, transport="sim")], settings=settings)
    assert checked.profile is not None
    assert checked.profile.capabilities == ("image_edit",)
