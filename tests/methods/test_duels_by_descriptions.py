"""Duels of models that answer without the images: by a description that another model writes, or by nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ModelCall
from dokimasia.errors import ConfigError, DataError, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.duel import DuelRequest, duel
from dokimasia.methods.duel.elsewhere import read_scores
from dokimasia.methods.duel.figures import DuelFigures
from dokimasia.methods.duel.report import conclusion
from dokimasia.methods.duel.results import duel_items
from dokimasia.report.blocks import plain
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.reading.reporting import report_data
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

    async def wait() -> RunResult:
        return await duel(request, settings=settings, transports={"sim": transport or SimTransport()})

    return asyncio.run(wait())


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
    assert len(described) == CASES, "one call a case"
    assert not any(images(call) for call in sent_to(transport, "sim/weak"))
    gaps = done.summary["without_images"]
    assert set(gaps) == {"sim/strong#blind", "sim/strong#text"}
    ((pair,),) = [done.summary["language_models"]]
    assert (pair["language_model"], pair["model"]) == ("sim/weak", "sim/strong")
    arms = [done.summary["models"][f"{name}#text"]["reward"]["mean"] for name in ("sim/weak", "sim/strong")]
    assert pair["reward"]["n"] == CASES
    assert pair["reward"]["difference"]["mean"] == pytest.approx(arms[1] - arms[0]), "second minus first"
    assert done.summary["direction"] == "second minus first"
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


def test_descriptions_are_made_once_for_the_same_images(cases: Path, settings: Settings) -> None:
    """A later run with another model and the same describer asks for no description again."""
    run(settings, cases)
    transport = CountingTransport(SimTransport())
    run(settings, cases, transport, models=("sim/weak",))
    assert sent_to(transport, DESCRIBER) == []


def test_specific_descriptions_follow_the_request(cases: Path, settings: Settings) -> None:
    """The describer first says, from the request alone, what must be observed, and describes the images with an eye to it."""
    transport = CountingTransport(SimTransport())
    run(settings, cases, transport, descriptions="specific")
    asked = sent_to(transport, DESCRIBER)
    assert sum(not images(call) for call in asked) <= CASES
    described = [call for call in asked if isinstance(call, Chat) and images(call)]
    assert described
    assert all("Pay special attention to this:\n<<<OBSERVE" in call.messages[-1].text for call in described)
    assert all("What each picture holds" in call.messages[-1].text for call in described)


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
        ({"describer": None, "text_models": ("sim/weak",)}, "name who writes them with `describer`"),
        ({"text_models": ("sim/strong",)}, "`text_models` names 'sim/strong'"),
    ],
)
def test_what_makes_no_sense_is_refused(cases: Path, settings: Settings, changes: dict[str, Any], problem: str) -> None:
    """Options that contradict each other are refused with a way out, before anything is sent."""
    with pytest.raises(ConfigError, match=problem):
        run(settings, cases, **changes)


@pytest.mark.parametrize(
    ("lines", "means"),
    [
        (["model,rating", "sim/strong,80", "sim/weak,40", "sim/steady,70", "other,1"], (80, 40, 70)),
        (
            [
                "model,benchmark,rating",
                *(f"sim/strong,{name},80" for name in ("MMMU", "AI2D")),
                *(f"sim/steady,{name},70" for name in ("MMMU", "AI2D")),
                "sim/weak,MMMU,30",
                "sim/weak,AI2D,50",
            ],
            (80, 40, 70),
        ),
    ],
    ids=["one score", "benchmarks"],
)
def test_figures_stand_beside_scores_elsewhere(
    cases: Path, settings: Settings, tmp_path: Path, lines: list[str], means: tuple[float, ...]
) -> None:
    """The OC score is given or the mean of the benchmarks; every two measures have Spearman's correlation and R²."""
    scores = tmp_path / "scores.csv"
    scores.write_text("\n".join(lines) + "\n")
    done = run(settings, cases, models=("sim/strong", "sim/weak"), describer=None, scores=scores)
    found = done.summary["elsewhere"]
    assert found["scores"]["OC score"] == dict(zip(("sim/strong", "sim/weak", "sim/steady"), means, strict=True))
    rewards = {name: model["reward"]["mean"] for name, model in done.summary["models"].items()} | {"sim/steady": 0}
    assert {name: figure for name, (_, figure) in found["reward"]["points"].items()} == rewards
    pairs = {(pair["first"], pair["second"]): pair for pair in found["redundancy"]}
    beside = pairs["reward", "OC score"]
    assert (beside["n"], beside["spearman"]) == (3, found["reward"]["spearman"]["value"])
    assert beside["r_squared"] == found["reward"]["r_squared"]
    if len(lines) > 5:
        assert pairs["MMMU", "AI2D"]["n"] == 3 if ("MMMU", "AI2D") in pairs else pairs["AI2D", "MMMU"]["n"] == 3
    assert pairs["visual factuality", "OC score"]["spearman"] is None, "the baseline has no factuality of its own"


def test_scores_of_nobody_are_refused(cases: Path, settings: Settings, tmp_path: Path) -> None:
    """A file that scores none of the models is refused before anything is sent."""
    scores = tmp_path / "scores.csv"
    scores.write_text("model,rating\nsomebody,4\n")
    with pytest.raises(DataError, match="scores none of the models"):
        run(settings, cases, scores=scores)


@pytest.mark.parametrize("name", ["reward", "Visual factuality"])
def test_a_benchmark_with_the_name_of_a_figure_is_refused(tmp_path: Path, name: str) -> None:
    """Its scores would stand in place of the run's own figure."""
    scores = tmp_path / "scores.csv"
    scores.write_text(f"model,benchmark,rating\nsim/strong,{name},4\n")
    with pytest.raises(DataError, match="as a figure of the duel is"):
        read_scores(scores, ["sim/strong"])


def test_a_reward_that_may_be_chance_is_not_significant(cases: Path, settings: Settings) -> None:
    """The conclusion says so of the best model, and that failed verdicts are not counted."""
    done = run(settings, cases, models=("sim/strong", "sim/weak"), describer=None)
    figures = DuelFigures.model_validate(done.summary)
    best = figures.models["sim/strong"]
    assert best.reward is not None
    reward = best.reward.model_copy(update={"mean": 90.0, "low": -3.0})
    verdicts = best.verdicts.model_copy(update={"failed": 1})
    models = {**figures.models, "sim/strong": best.model_copy(update={"reward": reward, "verdicts": verdicts})}
    changed = figures.model_copy(update={"models": models})
    with Home.open(settings.home, write=False) as home:
        data = asyncio.run(report_data(home, get_run(home, done.run)))
    said = " ".join(plain(sentence) for sentence in conclusion(replace(data, figures=changed)))
    assert "sim/strong has the highest reward but is not significantly better than sim/steady" in said
    assert "1 verdict failed and is not counted in these rates." in said
