"""A near-sighted judge finds with tools what it misses without; nothing else changes, and every look is on record."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dokimasia.algorithms.statistics.intervals import rate_interval
from dokimasia.cli.main import run as dokimasia
from dokimasia.domain.look import Look
from dokimasia.errors import ConfigError
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.plans import run_id
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.profiles import as_judge, find_profile, profiles
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.truths.evaluation import expected_chain_right, expected_mean, is_small
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import SqliteValueStore, get_run
from tests.looks import made_once
from tests.methods.conftest import Finished

Requests = Callable[..., EvaluationRequest]
NEAR = "sim/judge-nearsighted"
SAMPLES, SEED = 28, 5


@pytest.fixture(scope="module", autouse=True)
def each_look_once() -> Iterator[None]:
    """The runs of this file look at the same places."""
    with made_once():
        yield


@pytest.fixture(scope="session")
def fine_print(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of the planted world, four scenes of each domain or so."""
    path = tmp_path_factory.mktemp("fine-print") / "world.jsonl"
    write_world(path, SAMPLES, SEED)
    return path


def asked(data: Path, judge: str = NEAR, **changes: Any) -> EvaluationRequest:
    """A request that the judge scores two candidates on the data."""
    return EvaluationRequest.model_validate(
        {"data": data, "judge": judge, "models": ("sim/strong", "sim/weak"), **changes}
    )


def scores(result: RunResult) -> dict[str, Any]:
    """The scores and failures of a summary, without what they took."""
    kept = ("n", "n_scored", "score", "failures", "by_category")
    return {name: {key: model[key] for key in kept} for name, model in result.summary["models"].items()}


async def steps_right(home: Path, run_id: str) -> dict[bool, list[tuple[bool, str]]]:
    """Whether each step of the judge's model solutions is right, with its scene: small things, and others."""
    judge = as_judge(find_profile(NEAR))
    found: dict[bool, list[tuple[bool, str]]] = {True: [], False: []}
    with Home.open(home, write=False) as opened:
        run = get_run(opened, run_id)
        for scene, question in make_world(SAMPLES, SEED):
            view = await sample_of_run(opened, run, question.id)
            solution = view["replay"]["chain"]["reasoning"]
            for step in question.steps:
                found[is_small(judge, step)].append((step.statement in solution, scene.id))
    return found


def interval(found: list[tuple[bool, str]]) -> tuple[float, float]:
    """The interval of the share of right steps, clustered by scene."""
    return rate_interval([right for right, _ in found], clusters=[scene for _, scene in found])


async def test_tools_find_what_is_small_and_change_nothing_else(
    fine_print: Path, settings: Settings, finished: Finished
) -> None:
    """Without tools the judge gets small things wrong, with them right; ordinary things are right both times."""
    pairs = list(make_world(SAMPLES, SEED))
    judge = as_judge(find_profile(NEAR))
    without = await finished(asked(fine_print))
    with_tools = await evaluate(asked(fine_print, tools=("all",)), settings=settings)
    before, after = await steps_right(settings.home, without.run), await steps_right(settings.home, with_tools.run)
    assert len(before[True]) > 20
    assert interval(before[True])[1] < interval(after[True])[0]
    assert [right for right, _ in before[True]] == [False] * len(before[True])
    assert [right for right, _ in after[True]] == [True] * len(after[True])
    assert before[False] == after[False]
    assert all(right for right, _ in after[False])
    right = sum(hit for hit, _ in before[False]) / (len(before[True]) + len(before[False]))
    assert right == pytest.approx(expected_chain_right(judge, pairs))
    assert expected_chain_right(judge, pairs, tools=True) == 1


async def test_with_tools_it_judges_as_one_that_sees_well(
    fine_print: Path, settings: Settings, finished: Finished
) -> None:
    """Scores with tools are those of the faultless judge to the bit; without, they are as wrong as planted."""
    pairs = list(make_world(SAMPLES, SEED))
    mended = await finished(asked(fine_print, tools=("zoom",)))
    good = await evaluate(asked(fine_print, "sim/judge"), settings=settings)
    blurred = await evaluate(asked(fine_print), settings=settings)
    shown = await evaluate(asked(fine_print, show_image=True), settings=settings)
    assert scores(mended) == scores(good)
    assert scores(blurred) != scores(good)
    for result, seen, tools in ((blurred, False, False), (shown, True, False), (mended, False, True)):
        for name, model in result.summary["models"].items():
            assert model["n_scored"] == SAMPLES
            expected = expected_mean(name, NEAR, pairs, show_image=seen, tools=tools)
            assert model["score"]["low"] <= expected <= model["score"]["high"]


async def test_a_judge_that_sees_well_takes_no_look(fine_print: Path, settings: Settings, finished: Finished) -> None:
    """Where nothing is planted, tools change no score, and none is used."""
    without = await finished(asked(fine_print, "sim/judge"))
    offered = await evaluate(asked(fine_print, "sim/judge", tools=("all",)), settings=settings)
    assert scores(offered) == scores(without)
    with Home.open(settings.home, write=False) as home:
        assert home.all("SELECT count(*) FROM objects WHERE type = 'Look'") == [(0,)]


async def test_too_few_looks_leave_some_things_unseen(fine_print: Path, settings: Settings, finished: Finished) -> None:
    """With one look an ask the judge sees one small thing of each question and no more."""
    result = await finished(asked(fine_print, tools=("zoom",), looks=1))
    small = (await steps_right(settings.home, result.run))[True]
    assert {right for right, _ in small} == {True, False}
    assert result.summary["models"]["sim/weak"]["n_scored"] == SAMPLES


@pytest.mark.parametrize("transport", ["direct", "litellm"])
async def test_the_same_over_http(
    fine_print: Path, tmp_path: Path, settings: Settings, transport: str, finished: Finished
) -> None:
    """Tools, results and images go over the wire on both transports and come to the same scores."""
    here = await finished(asked(fine_print, tools=("zoom",), models=("sim/strong",), limit=8))
    with running_server() as url:
        (tmp_path / "dokimasia.toml").write_text(
            "".join(
                f'[models."{name}"]\nmodel = "openai/{name}"\napi_base = "{url}"\ntransport = "{transport}"\n'
                for name in (NEAR, "sim/strong")
            )
        )
        served = load_settings(config=tmp_path / "dokimasia.toml", home=tmp_path / "served", env={})
        there = await evaluate(asked(fine_print, tools=("zoom",), models=("sim/strong",), limit=8), settings=served)
    assert scores(there) == scores(here)
    looks = "SELECT count(*) FROM objects WHERE type = 'Look' AND json_extract(body, '$.failed') = 0"
    for home_path in (settings.home, served.home):
        with Home.open(home_path, write=False) as home:
            assert home.all(looks)[0][0] > 3


async def test_every_look_is_on_record(fine_print: Path, settings: Settings, finished: Finished) -> None:
    """Chain and judgements name their looks, whose images are kept, whose calls count, and which add up for `verify`."""
    result = await finished(asked(fine_print, tools=("zoom",)))
    labels: set[str] = set()
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        for _, question in make_world(SAMPLES, SEED):
            view = await sample_of_run(home, run, question.id, raw=True)
            sent = {call["key"] for call in view["calls"]}
            for holder in (view["replay"], *view["answers"]):
                for look in holder["looks"]:
                    labels.add(look["prompt"])
                    assert look["call"] in holder["calls"]
                    assert look["call"] in sent
                    assert look["regions"][0]["image"] == view["sample"]["images"][0]["sha256"]
                    assert home.blobs.get(look["made"]["sha256"]).startswith(b"\x89PNG")
                if holder.get("judgement"):
                    assert holder["judgement"]["provenance"]["shown"][-2:] == ["image", "tools"]
    assert labels == {"solver", "checkpoints"}
    assert dokimasia(["verify", "--home", str(settings.home)]) == 0


async def test_the_ledger_answers_looks_again(fine_print: Path, settings: Settings, finished: Finished) -> None:
    """The same once more under another id sends nothing: the tools make the same images of the same pictures."""
    first = await finished(asked(fine_print, tools=("zoom",), limit=8))
    with Home.open(settings.home, write=False) as home:
        calls = home.all("SELECT count(*) FROM calls")
    again = await evaluate(asked(fine_print, tools=("zoom",), limit=8, fresh=True), settings=settings)
    assert again.run != first.run
    assert again.summary["models"] == first.summary["models"]
    with Home.open(settings.home, write=False) as home:
        assert home.all("SELECT count(*) FROM calls") == calls


async def test_a_fork_takes_looks_over_with_their_chain(
    fine_print: Path, settings: Settings, finished: Finished
) -> None:
    """A fork from the scoring keeps what the solver looked at and looks anew where it scores anew."""
    first = await finished(asked(fine_print, tools=("zoom",), limit=8))
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, first.run)
    forked = await fork(run, ForkRequest(node="score", judge="sim/judge"), settings=settings)
    looked: dict[str, list[Look]] = {"replay": [], "score": []}
    with Home.open(settings.home, write=False) as home:
        store = SqliteValueStore(home, forked.run)
        for kind, ids in home.all(
            "SELECT r.kind, v.value FROM results r, json_each(r.value_ids) v WHERE r.run_id = ?", (forked.run,)
        ):
            looked[kind].append(await store.get(Look, ids))
    assert len(looked["replay"]) > 3
    assert looked["score"] == []
    assert scores(forked) == scores(first)


def test_tools_belong_to_what_a_run_is(fine_print: Path, settings: Settings) -> None:
    """A run with tools is another run, whatever order they are named in; the bound counts only where there are any."""

    def id_of(**changes: Any) -> str:
        plan = asyncio.run(prepare(METHOD, asked(fine_print, **changes), settings=settings)).plan
        assert ("looking" in plan.prompts) == bool(plan.tools)
        return run_id(METHOD, plan)

    assert id_of() == id_of(looks=3)
    assert len({id_of(), id_of(tools=("zoom",)), id_of(tools=("zoom", "crop")), id_of(tools=("zoom",), looks=3)}) == 4
    assert id_of(tools=("zoom", "crop")) == id_of(tools=("crop", "zoom"))
    with pytest.raises(ConfigError, match="no tool is called 'microscope'"):
        id_of(tools=("microscope",))


def test_an_estimate_counts_looks_as_calls(fine_print: Path, settings: Settings) -> None:
    """The most calls that tools may take are in the estimate, and a run never takes more."""

    def most(**changes: Any) -> int:
        accepted = asyncio.run(prepare(METHOD, asked(fine_print, **changes), settings=settings))
        return accepted.estimate.models[NEAR].calls

    asks = SAMPLES * (1 + 2)
    assert most(tools=("zoom",), looks=4) - most() == asks * (4 + 1)


def test_show_tells_of_looks(
    fine_print: Path, settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the command line `--tools` is named once, and `show --sample` lists what was looked at."""
    monkeypatch.setenv("COLUMNS", "300")
    options = ["--judge", NEAR, "--models", "sim/strong", "--limit", "8"]
    options += ["--tools", "zoom,crop", "--home", str(settings.home)]
    assert dokimasia(["evaluate", str(fine_print), *options]) == 0
    with Home.open(settings.home, write=False) as home:
        run, sample = home.all(
            "SELECT run_id, sample_id FROM results WHERE kind = 'replay' AND value_ids != '[]' ORDER BY item LIMIT 1"
        )[0]
    capsys.readouterr()
    assert dokimasia(["show", run, "--sample", sample, "--raw", "--home", str(settings.home)]) == 0
    shown = capsys.readouterr().out
    assert "looked closer for " in shown
    assert ": zoom: " in " ".join(shown.split())
    assert "enlarged" in shown
    assert "[calls zoom {" in shown
    assert dokimasia(["evaluate", str(fine_print), *options[:-3], "lens", "--home", str(settings.home)]) == 2
    assert "no tool is called 'lens'" in capsys.readouterr().err
    assert dokimasia(["evaluate", str(fine_print), *options, "--dry-run", "--show-prompts"]) == 0
    assert "6 times at most" in capsys.readouterr().out


async def test_a_retry_keeps_what_was_looked_at(fine_print: Path, settings: Settings) -> None:
    """Looks of an attempt that failed stay beside its calls, and those of the next attempt are added."""
    noisy = as_judge(find_profile(NEAR)).model_copy(update={"format_noise": 0.5})
    transports = {"sim": SimTransport(models={**profiles(), NEAR: noisy})}
    request = asked(fine_print, tools=("zoom",), limit=14)
    first = await evaluate(request, settings=settings, transports=transports)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, first.run)
        failed = {row.item: row for row in results(home, run.id) if row.outcome == "failed" and row.value_ids}
    assert failed
    await resume(run, settings=settings, transports=transports, retry=("unparsable",))
    with Home.open(settings.home, write=False) as home:
        rows = {row.item: row for row in results(home, run.id)}
        store = SqliteValueStore(home, run.id)
        for item, before in failed.items():
            after = rows[item]
            assert after.value_ids[: len(before.value_ids)] == before.value_ids
            assert after.calls[: len(before.calls)] == before.calls
        for row in rows.values():
            assert {(await store.get(Look, id)).call for id in row.value_ids} <= set(row.calls)
