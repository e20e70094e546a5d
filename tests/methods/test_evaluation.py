"""The main job from a data file to its figures, in process: continued, repeated, limited, and never paid twice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.events import GatewayEvent
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.methods.evaluation.criteria import export_criteria, import_criteria
from dokimasia.report.document import render_document
from dokimasia.runs.observer import SilentObserver
from dokimasia.runs.plans import run_id
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.runs.reading.reporting import report_data
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.checkpoints import open_saver
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run, list_runs

pytestmark = pytest.mark.quick

Requests = Callable[..., EvaluationRequest]


def counting(*, stop: Stop | None = None, after: int | None = None) -> CountingTransport:
    """Simulated models, counted, that stop a run after so many calls."""
    return CountingTransport(SimTransport(), stop=None if stop is None else stop.ask, stop_after=after)


def as_bytes(summary: dict[str, Any]) -> bytes:
    return orjson.dumps(summary["models"], option=orjson.OPT_SORT_KEYS)


async def test_calls_that_models_share_count_once_together(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Two names of one model rest on the same calls: these count with each name, and all together as often as were paid."""
    config = tmp_path / "two.toml"
    config.write_text("".join(f'[models.{name}]\nmodel = "sim/strong"\n' for name in ("first", "second")))
    settings = load_settings(config=config, home=settings.home, env={})
    transport = counting()
    request = request_of(models=("first", "second"))
    summary = (await evaluate(request, settings=settings, transports={"sim": transport})).summary
    parts = [summary["preparation"], *summary["models"].values()]
    assert summary["together"]["calls"] == len(transport.done) < sum(part["calls"] for part in parts)
    for side in ("input", "output"):
        assert summary["together"]["tokens"][side] < sum(part["tokens"][side] for part in parts)


async def test_every_sample_is_scored_or_failed_and_counted(settings: Settings, request_of: Requests) -> None:
    """Every candidate has every sample in its denominator; scores lie between 1 and 5 inside their intervals."""
    result = await evaluate(request_of(), settings=settings)
    assert result.complete
    for name in ("sim/strong", "sim/weak"):
        model = result.summary["models"][name]
        assert model["n"] == 14
        assert model["n_scored"] + sum(model["failures"].values()) == 14
        assert model["coverage"] == pytest.approx(model["n_scored"] / 14, abs=1e-6)
        score, bounds = model["score"], model["bounds"]
        assert 1 <= score["low"] <= score["mean"] <= score["high"] <= 5
        assert bounds["low"] <= score["mean"] <= bounds["high"]
        assert sum(one["n"] for one in model["by_category"].values()) == 14
        assert model["cost"] == 0
        assert model["calls"] >= 2 * model["n_scored"]
    strong, weak = (result.summary["models"][name]["score"]["mean"] for name in ("sim/strong", "sim/weak"))
    assert strong > weak
    assert result.summary["simulated"] == ["sim/judge-noisy", "sim/strong", "sim/weak"]


async def test_two_homes_give_the_same_bytes(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """The same data, models, options and seed give the same run id and the same figures anywhere."""
    first = await evaluate(request_of(), settings=settings)
    other = Settings(home=tmp_path / "elsewhere")
    assert await evaluate(request_of(), settings=other) == first


async def test_repeats_and_the_blind_arm(settings: Settings, request_of: Requests) -> None:
    """Repeats are averaged within a sample with their spread, and the blind arm says what survives without the image."""
    result = await evaluate(request_of(models=("sim/steady",), repeats=3, no_image=True), settings=settings)
    full, blind = (result.summary["models"][name] for name in ("sim/steady", "sim/steady#blind"))
    assert full["n"] == blind["n"] == 14
    assert full["spread"] > 0
    assert full["score"]["mean"] > blind["score"]["mean"]
    assert 0 <= result.summary["blind"]["sim/steady"]["share"] < 0.6
    with Home.open(settings.home, write=False) as home:
        rows = results(home, result.run)
    assert sum(row.kind == "score" for row in rows) == 14 * 3 * 2


async def test_responses_that_exist_are_scored(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """A file of answers is scored without asking any candidate, to the scores that the run which wrote them had."""
    first = await evaluate(request_of(models=("sim/steady",)), settings=settings)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, first.run)
        rows = [row for row in results(home, first.run) if row.kind == "score"]
        views = [await sample_of_run(home, run, row.sample_id) for row in rows]
    path = tmp_path / "answers.jsonl"
    lines = [
        {"id": view["sample"]["id"], "model": "someone", "response": answer["response"]["text"]}
        for view in views
        for answer in view["answers"]
        if answer["response"]
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    transport = counting()
    given = await evaluate(
        request_of(models=(), responses=path, limit=len(lines)), settings=settings, transports={"sim": transport}
    )
    assert {call.model.name for call in transport.sent} <= {"sim/judge-noisy"}
    assert given.summary["models"]["someone"]["score"] == first.summary["models"]["sim/steady"]["score"]


async def test_a_missing_response_is_named(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """An answer that the file lacks is an error before anything is asked."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "nobody", "model": "m", "response": "x"}\n')
    with pytest.raises(DataError, match="m has no answer to 14 of 14 samples"):
        await evaluate(request_of(models=(), responses=path), settings=settings)


async def test_criteria_travel_as_files(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """Exported criteria score the same models elsewhere to the same scores, with no call of the solver."""
    first = await evaluate(request_of(), settings=settings)
    path = tmp_path / "criteria.jsonl"
    with Home.open(settings.home, write=False) as home:
        path.write_bytes(b"".join(await export_criteria(home, get_run(home, first.run))))
    made = path.read_bytes().count(b"\n")
    other = Settings(home=tmp_path / "elsewhere")
    with Home.open(other.home, write=True) as home:
        collection, size = await import_criteria(home, path)
    assert size == made
    transport = counting()
    if made == 14:
        second = await evaluate(request_of(criteria=collection), settings=other, transports={"sim": transport})
        assert as_bytes(second.summary) == as_bytes(first.summary)
        assert second.summary["preparation"]["calls"] == 0
    else:
        with pytest.raises(InputError, match=r"criteria .* have nothing for"):
            await evaluate(request_of(criteria=collection), settings=other, transports={"sim": transport})


async def test_broken_criteria_are_named_by_line(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """A file of criteria with a broken line is refused whole, with the line."""
    first = await evaluate(request_of(), settings=settings)
    with Home.open(settings.home, write=False) as home:
        lines = list(await export_criteria(home, get_run(home, first.run)))
    broken = json.loads(lines[1])
    broken["criteria"]["criteria"][0]["weight"] = 9
    path = tmp_path / "criteria.jsonl"
    path.write_bytes(lines[0] + json.dumps(broken).encode() + b"\n")
    with Home.open(settings.home, write=True) as home, pytest.raises(DataError, match=r"line 2.*weights sum to"):
        await import_criteria(home, path)


async def test_bad_samples_stop_the_run_before_it_pays(
    settings: Settings, request_of: Requests, world: Path, tmp_path: Path
) -> None:
    """Every bad line is named at once, nothing is sent and no run is made; skipping says what was left out, a line each."""
    lines = world.read_text().splitlines()
    images = world.parent / "images"
    path = tmp_path / "data.jsonl"
    good = [line.replace('"images/', f'"{images}/') for line in lines[:3]]
    path.write_text(
        "\n".join(
            [
                good[0],
                "{broken",
                good[1],
                '{"id": "x", "prompt": " "}',
                good[2],
                good[0],
                '{"id": "y", "prompt": " ", "image": "no.png"}',
            ]
        )
    )
    transport = counting()
    with pytest.raises(DataError) as caught:
        await evaluate(request_of(data=path, allow_outside=True), settings=settings, transports={"sim": transport})
    message = str(caught.value)
    assert all(f"line {number}" in message for number in (2, 4, 6, 7))
    assert transport.sent == []
    with Home.open(settings.home, write=False) as home:
        assert list_runs(home) == []
    result = await evaluate(request_of(data=path, on_bad_sample="skip", allow_outside=True), settings=settings)
    assert result.summary["samples"] == 3
    skipped = result.summary["skipped"]
    assert len(skipped) == 4, "a line with two problems is one that was left out"
    assert skipped[-1].count("line 7") == 2
    with Home.open(settings.home, write=False) as home:
        data = await report_data(home, get_run(home, result.run), samples=0)
    assert "4 entries of the data (samples or answers) could not be used and were left out" in render_document(data)


async def test_a_limit_on_cost_needs_every_price(settings: Settings, request_of: Requests) -> None:
    """With a model of unknown price a limit on cost is refused, with the way out."""
    with pytest.raises(ConfigError, match=r"unknown: hosted_vllm/unheard-of.*input_price"):
        await evaluate(request_of(models=("hosted_vllm/unheard-of",), max_cost=1.0), settings=settings)


async def test_an_unknown_model_is_refused(settings: Settings, request_of: Requests) -> None:
    """A name that is neither configured nor a LiteLLM name is an error of the user's."""
    with pytest.raises(ConfigError, match="nonsense"):
        await evaluate(request_of(models=("nonsense",)), settings=settings)


async def test_a_sample_can_be_shown_whole(settings: Settings, request_of: Requests) -> None:
    """Chain, criteria, answers, scores and the calls as they were sent are all there."""
    result = await evaluate(request_of(), settings=settings)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        ids = [row.sample_id for row in results(home, result.run) if row.kind == "replay" and row.criteria_id]
        view = await sample_of_run(home, run, ids[0], raw=True)
    assert 3 <= len(view["replay"]["criteria"]["criteria"]) <= 5
    assert {answer["model"] for answer in view["answers"]} == {"sim/strong", "sim/weak"}
    labels = [call["label"] for call in view["calls"]]
    assert list(dict.fromkeys(labels))[:2] == ["solver", "criteria"]
    assert labels.count("candidate") == 2


async def test_the_gateway_tells_what_happens(settings: Settings, request_of: Requests) -> None:
    """An observer hears of the estimate, the standing and every event, and the estimate bounds what is sent."""
    heard: list[GatewayEvent] = []
    calls: list[int] = []

    class Ear(SilentObserver):
        def planned(self, run_id: str, estimate: Any) -> None:
            calls.append(estimate.calls)

        def happened(self, event: GatewayEvent) -> None:
            heard.append(event)

    await evaluate(request_of(judge="sim/judge"), settings=settings, observer=Ear())
    answered = sum(event.kind == "answered" for event in heard)
    assert 0 < answered <= calls[0]


async def test_checkpoints_are_kept_on_request(settings: Settings, request_of: Requests) -> None:
    """Every step of every thread can be looked at afterwards where that was asked for, and none is left otherwise."""
    plain = Settings(home=settings.home.with_name("plain"))
    kept = await evaluate(request_of(keep_checkpoints=True), settings=settings)
    assert await evaluate(request_of(), settings=plain) == kept
    steps: dict[str, list[str]] = {}
    for one in (settings, plain):
        with Home.open(one.home, write=True) as home:
            async with open_saver(home) as saver:
                rows = saver.conn.execute("SELECT thread_id FROM checkpoints").fetchall()
                steps[one.home.name] = [row[0] for row in rows]
    assert steps["plain"] == []
    assert len(set(steps["home"])) == 14 + kept.summary["models"]["sim/weak"]["n_scored"]
    assert any("checkpoint_scoring" in thread for thread in steps["home"])


async def test_a_dry_run_needs_no_home(settings: Settings, request_of: Requests) -> None:
    """Preparing reads and checks everything and leaves nothing behind."""
    accepted = await prepare(METHOD, request_of(), settings=settings)
    assert len(accepted.places) == accepted.estimate.samples == 14
    assert len(run_id(METHOD, accepted.plan)) == 16
    assert not settings.home.exists()


@pytest.mark.parametrize(
    "changes",
    [{"models": ()}, {"models": ("nobody",)}, {"judge": None, "min_score": 3}],
    ids=["no candidate", "an unknown candidate", "a minimum score without a judge"],
)
async def test_a_request_that_cannot_be_used_stores_no_sample(
    settings: Settings, request_of: Requests, changes: dict[str, Any]
) -> None:
    """What is wrong with the options is said before the data are stored: neither a sample nor an image is in the home."""
    with pytest.raises(ConfigError):
        await evaluate(request_of(**changes), settings=settings)
    with Home.open(settings.home, write=False) as home:
        assert home.all("SELECT count(*) FROM samples") == [(0,)]
        assert not [path for path in home.path.glob("blobs/**/*") if path.is_file()]
