"""Duels of models that answer without the images: by a description that another model writes, or by nothing."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ModelCall
from dokimasia.errors import ConfigError, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.duel import DuelRequest, duel
from dokimasia.methods.duel.results import duel_items
from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

CASES = 6
DESCRIBER = "sim/panel-a"
BASE = {"judge": "sim/judge", "models": ("sim/strong",), "baseline": "sim/steady", "describer": DESCRIBER}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six creative cases of one to nine pictures."""
    path = tmp_path_factory.mktemp("creative") / "cases.jsonl"
    write_creative(path, CASES, 1)
    return path


def run(settings: Settings, data: Path, transport: Any = None, **changes: Any) -> RunResult:
    request = DuelRequest.model_validate({**BASE, "data": data, **changes})
    return asyncio.run(duel(request, settings=settings, transports={"sim": transport or SimTransport()}))


def images(call: ModelCall) -> list[str]:
    return [image.sha256 for message in call.messages for image in message.images] if isinstance(call, Chat) else []


def sent_to(transport: CountingTransport, model: str) -> list[ModelCall]:
    return [call for call in transport.sent if call.model.model == model]


def test_models_answer_by_descriptions(cases: Path, settings: Settings) -> None:
    """With a describer every model answers by descriptions, too, and language models by them alone."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, no_image=True, text_models=("sim/weak",))
    assert set(done.summary["models"]) == {"sim/strong", "sim/strong#blind", "sim/strong#text", "sim/weak#text"}
    assert (done.summary["describer"], done.summary["descriptions"]) == (DESCRIBER, "generic")
    described = sent_to(transport, DESCRIBER)
    assert len(described) == len({image for call in described for image in images(call)}), "one call an image"
    assert not any(images(call) for call in sent_to(transport, "sim/weak"))
    gaps = done.summary["without_images"]
    assert set(gaps) == {"sim/strong#blind", "sim/strong#text"}
    blind, told = (gaps[f"sim/strong#{arm}"]["factuality"]["difference"]["mean"] for arm in ("blind", "text"))
    assert blind < told
    with Home.open(settings.home, write=False) as home:
        found = list(duel_items(home, get_run(home, done.run), "creative-1-0000"))
    assert {one["model"]: bool(one["descriptions"]) for one in found} == {
        "sim/strong": False,
        "sim/strong#blind": False,
        "sim/strong#text": True,
        "sim/weak#text": True,
    }


def test_descriptions_are_made_once_an_image(cases: Path, settings: Settings) -> None:
    """A later run with another model and the same describer asks for no description again."""
    run(settings, cases)
    transport = CountingTransport(SimTransport())
    run(settings, cases, transport, models=("sim/weak",))
    assert sent_to(transport, DESCRIBER) == []


def test_specific_descriptions_follow_the_request(cases: Path, settings: Settings) -> None:
    """The describer first says, from the request alone, what must be observed, and describes each image with an eye to it."""
    transport = CountingTransport(SimTransport())
    run(settings, cases, transport, descriptions="specific")
    asked = sent_to(transport, DESCRIBER)
    assert sum(not images(call) for call in asked) <= CASES
    described = [call for call in asked if images(call)]
    assert described
    assert all("Pay special attention to this: What each picture holds" in call.messages[-1].text for call in described)


def test_a_describer_that_fails_fails_its_arm_alone(cases: Path, settings: Settings) -> None:
    """Where nobody describes the images, the answers by descriptions fail with the reason, and no other does."""

    def fail(call: ModelCall) -> TransportError | None:
        return (
            TransportError("bad_request", "no such thing", retryable=False)
            if images(call) and _describes(call)
            else None
        )

    done = run(settings, cases, CountingTransport(SimTransport(), fail=fail), max_failures=str(CASES))
    assert done.summary["models"]["sim/strong"]["failures"] == {}
    assert sum(done.summary["models"]["sim/strong#text"]["failures"].values()) == CASES
    assert done.summary["without_images"]["sim/strong#text"]["reward"]["difference"] is None


def _describes(call: ModelCall) -> bool:
    return call.model.model == DESCRIBER


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"describer": None, "text_models": ("sim/weak",)}, "name who writes them with --describer"),
        ({"text_models": ("sim/strong",)}, "--text-models names 'sim/strong'"),
    ],
)
def test_what_makes_no_sense_is_refused(cases: Path, settings: Settings, changes: dict[str, Any], problem: str) -> None:
    """Options that contradict each other are refused with a way out, before anything is sent."""
    with pytest.raises(ConfigError, match=problem):
        run(settings, cases, **changes)
