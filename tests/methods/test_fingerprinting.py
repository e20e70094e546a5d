"""Reports without names are matched to answers: planted profiles are told apart, twins are not, by hand and by a judge."""

import asyncio
import json
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dokimasia.domain.call import ModelCall, ModelReply, ModelSpec
from dokimasia.domain.diagnosis.fingerprint import FingerprintTask
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import InputError, NotFound, TransportError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.fingerprints import FingerprintRequest, match_fingerprints
from dokimasia.methods.fingerprints.figures import Trial, fingerprint_figures, matcher_figures
from dokimasia.methods.fingerprints.human_matching import (
    DATA,
    SHEET,
    TRIALS,
    export_figures,
    take_matches,
    write_bundle,
)
from dokimasia.methods.fingerprints.trials import halves, tasks_of
from dokimasia.methods.tree import grow_tree
from dokimasia.report.fields import as_json
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.verification import verify
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.profiles import CandidateProfile, profiles
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run

Requests = Callable[..., EvaluationRequest]

SEER = CandidateProfile(name="sim/seer", base=0.85, overrides={"<Reasoning>": 0.4, "<Knowledge>": 0.4})
THINKER = CandidateProfile(name="sim/thinker", base=0.85, overrides={"<Perception>": 0.6})
KNOWN = {
    **profiles(),
    **{
        one.name: one
        for one in (
            SEER,
            THINKER,
            SEER.model_copy(update={"name": "sim/seer-twin"}),
            THINKER.model_copy(update={"name": "sim/thinker-twin"}),
        )
    },
}
"""The models that ship, and two that are as good as each other at different things, with a twin each."""

JUDGE = "sim/judge"
BLABBING = "As an AI model made by Acme Labs, I am {name}.\n\n{text}\n\n- {name}"


class Watched:
    """Simulated models that tell who they are if they are to, and that count what is asked of them."""

    def __init__(self, *, blabs: bool = False, stops_at: int | None = None, silent: tuple[str, ...] = ()) -> None:
        self.inner = SimTransport(models=KNOWN)
        self.sent: list[str] = []
        self.shown: list[str] = []
        self.stop = Stop()
        self._blabs, self._stops_at, self._silent = blabs, stops_at, silent

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Answer as the model, with its name around the answer of a candidate."""
        if spec.ref.model in self._silent:
            raise TransportError("bad_request", "planted", retryable=False, status=400)
        await asyncio.sleep(0)  # as any endpoint does, so that a stop is noticed between replies
        reply = await self.inner.send(call, spec, api_key=api_key, blobs=blobs)
        text = "\n".join(message.text for message in call.messages) if call.kind == "chat" else ""
        self.sent.append(f"{spec.ref.model} {text}")
        if "Report 1: [[A]]" in text:
            self.shown.append(text)
        if self._stops_at is not None and len(self.sent) >= self._stops_at:
            self.stop.ask()
        if self._blabs and reply.kind == "chat" and not spec.ref.model.startswith("sim/judge"):
            said = BLABBING.format(name=spec.ref.model.removeprefix("sim/").title(), text=reply.text)
            return reply.model_copy(update={"text": said})
        return reply

    async def aclose(self) -> None:
        """Close nothing."""

    @property
    def given(self) -> dict[str, Any]:
        """How a test is told of it."""
        return {"transports": {"sim": self}, "stop": self.stop}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, str, Watched]:
    """A home with an evaluation of two specialists and their twins, who all tell who they are, and its tree."""
    folder = tmp_path_factory.mktemp("fingerprints")
    write_world(folder / "world.jsonl", 120, 5)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    watched = Watched(blabs=True)
    models = ("sim/seer", "sim/seer-twin", "sim/thinker", "sim/thinker-twin")
    request = EvaluationRequest(data=folder / "world.jsonl", judge=JUDGE, models=models)

    async def made() -> str:
        run = (await evaluate(request, settings=settings, transports={"sim": watched})).run
        await grow_tree(judge=JUDGE, run=run, settings=settings, transports={"sim": watched})
        return run

    return settings, asyncio.run(made()), watched


def stored_run(settings: Settings, id: str) -> Run:
    """A run as a home has it."""
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id)


@pytest.mark.full
def test_guessed_pairs_are_rarely_said_to_be_apart() -> None:
    """Of 153 pairs that are guessed in nine trials each, at most one in twenty tests says of any pair that it is apart."""
    models = [f"m{number}" for number in range(18)]
    alarms = half = 0
    for seed in range(60):
        draw = Random(seed)
        trials = [Trial(*names, draw.random() < 0.5) for names in combinations(models, 2) for _ in range(9)]
        found = as_json(matcher_figures(trials, models))
        assert found["n_pairs"] == 153
        alarms += found["pairs_apart"] > 0
        half += found["pairs_above_half"]
    assert alarms <= 31 * 60 // 400 + 2
    assert half > 0.4 * 60 * 153, "which more than half of the trials would have said of half of them"


@pytest.mark.full
async def test_specialists_are_told_apart_and_twins_are_not(evaluated: tuple[Settings, str, Watched]) -> None:
    """Models of equal skill at different things are told apart in at least 90 % of pairs, twins of one in half.

    Nobody who matches is shown a name, although every answer tells its writer's.
    """
    settings, run, _ = evaluated
    watched = Watched()
    request = FingerprintRequest(run=run, judge=JUDGE, responses=10)
    result = await match_fingerprints(request, settings=settings, transports={"sim": watched})
    figures = result.summary["by_judge"]
    assert figures["trials"] == figures["n"] == 36
    pairs = {frozenset((row["first"], row["second"])): row for row in figures["pairs"]}
    twins = [pairs[frozenset((name, f"{name}-twin"))] for name in ("sim/seer", "sim/thinker")]
    others = [row for row in pairs.values() if row not in twins]
    assert len(others) == 4
    assert sum(row["above_half"] for row in others) >= 0.9 * len(others)
    assert sum(row["apart"] for row in others) >= 3
    assert not any(row["apart"] for row in twins)
    assert all(row["low"] <= 0.5 <= row["high"] for row in twins)
    assert result.summary["removed"] >= 2 * 2 * 10 * 36
    assert len(watched.shown) == 36
    for text in watched.shown:
        assert not re.search(r"seer|thinker|twin|acme|as an ai", text, re.IGNORECASE)
    assert any("fewer than the paper's 30 to 50" in note for note in result.summary["notes"])


async def test_no_report_is_written_from_a_sample_whose_answers_are_shown(
    evaluated: tuple[Settings, str, Watched],
) -> None:
    """The halves share no sample, and the trials of a pair share none either."""
    settings, run, _ = evaluated
    request = FingerprintRequest(run=run, judge=JUDGE, responses=10)
    result = await match_fingerprints(request, settings=settings, transports={"sim": Watched()})
    with Home.open(settings.home, write=False) as home:
        tasks = [task for _, task in tasks_of(home, get_run(home, result.run))]
        parts = halves(home, get_run(home, run), result.summary["seed"])
    assert not parts.reports & set(parts.answers)
    by_pair: dict[tuple[str, str], list[str]] = {}
    for task in tasks:
        assert set(task.samples) <= set(parts.answers)
        by_pair.setdefault((task.first, task.second), []).extend(task.samples)
    assert all(len(each) == len(set(each)) for each in by_pair.values())
    assert {task.truth for task in tasks} == {"A", "B"}
    assert {task.a == task.first for task in tasks} == {True, False}


async def test_few_answers_make_smaller_trials_and_the_summary_says_so(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """With seven samples to show and thirty asked for there is one trial of those seven; figures are files, too."""
    run = (await evaluate(request_of(), settings=settings)).run
    asked = FingerprintRequest(run=run, judge=JUDGE)
    result = await match_fingerprints(asked, settings=settings)
    shown = result.summary["shown"]
    assert shown["low"] == shown["high"] < 14
    assert any(
        f"1 trials show {shown['low']} answers of each model and not 30" in note for note in result.summary["notes"]
    )
    with Home.open(settings.home, write=False) as home:
        figures = fingerprint_figures(home, get_run(home, result.run))
    one, other = (export_figures(figures, tmp_path / name) for name in ("one", "other"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert {"heatmap-fingerprints.csv", "heatmap-fingerprints.png", "fingerprints.csv", "fingerprints.json"} <= {
        path.name for path in one
    }
    assert "sim/weak" in (tmp_path / "one" / "heatmap-fingerprints.csv").read_text()


async def test_what_cannot_be_told_apart_is_refused_before_anything_is_asked(
    settings: Settings, request_of: Requests
) -> None:
    """One model, and a model that never answered: the message says what there is and what to do."""
    alone = (await evaluate(request_of(models=("sim/weak",)), settings=settings)).run
    with pytest.raises(InputError, match="one model, sim/weak"):
        await match_fingerprints(FingerprintRequest(run=alone, judge=JUDGE), settings=settings)
    silent = Watched(silent=("sim/hasty",))
    failed = (
        await evaluate(request_of(models=("sim/strong", "sim/hasty")), settings=settings, transports={"sim": silent})
    ).run
    watched = Watched()
    with pytest.raises(InputError, match=r"sim/strong and sim/hasty: 0\)\. No answer of sim/hasty is there"):
        await match_fingerprints(
            FingerprintRequest(run=failed, judge=JUDGE), settings=settings, transports={"sim": watched}
        )
    assert not watched.sent


async def test_a_pair_that_has_no_answers_is_said_to_have_none(settings: Settings, request_of: Requests) -> None:
    """Of three models one is silent: the other two are told apart, and the pairs without a trial are named."""
    silent = Watched(silent=("sim/weak",))
    models = ("sim/strong", "sim/weak", "sim/hasty")
    run = (await evaluate(request_of(models=models), settings=settings, transports={"sim": silent})).run
    summary = (await match_fingerprints(FingerprintRequest(run=run, judge=JUDGE), settings=settings)).summary
    assert [(row["first"], row["second"]) for row in summary["by_judge"]["pairs"]] == [("sim/strong", "sim/hasty")]
    assert [one["samples"] for one in summary["untested"]] == [0, 0]
    assert sum("have no trial" in note for note in summary["notes"]) == 2


async def test_a_judge_that_fails_is_counted_and_leaves_bounds(settings: Settings, request_of: Requests) -> None:
    """A writer of ten thousand words and a judge without a usable reply end no test; failures are counted by kind."""

    class Mumbling(Watched):
        async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
            reply = await super().send(call, spec, api_key=api_key, blobs=blobs)
            matching = self.sent and "Report 1: [[A]]" in self.sent[-1]
            return reply.model_copy(update={"text": "I cannot say."}) if matching else reply

    run = (await evaluate(request_of(), settings=settings)).run
    asked = FingerprintRequest(run=run, judge=JUDGE, responses=2)
    result = await match_fingerprints(asked, settings=settings, transports={"sim": Mumbling()})
    figures = result.summary["by_judge"]
    assert figures["failures"] == {"unparsable": figures["trials"]}
    assert figures["accuracy"] is None
    assert figures["bounds"] == {"low": 0.0, "high": 1.0}


async def test_without_a_report_a_model_cannot_be_told(settings: Settings, request_of: Requests) -> None:
    """Where the judge writes no report on a model its trials fail for that reason, and no matching call is sent."""

    class Mute(Watched):
        async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
            reply = await super().send(call, spec, api_key=api_key, blobs=blobs)
            return reply.model_copy(update={"text": ""}) if "sim/weak" in self.sent[-1] else reply

    run = (await evaluate(request_of(), settings=settings)).run
    asked = FingerprintRequest(run=run, judge=JUDGE, responses=2)
    mute = Mute()
    result = await match_fingerprints(asked, settings=settings, transports={"sim": mute})
    assert not mute.shown
    figures = result.summary["by_judge"]
    assert sum(figures["failures"].values()) == figures["trials"] == 4
    assert result.summary["reports"]["sim/weak"] is None
    with Home.open(settings.home, write=False) as home, pytest.raises(InputError, match="no reports to match"):
        write_bundle(home, get_run(home, result.run), settings.home / "out")


async def test_a_reader_matches_by_hand(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """The bundle names nobody, two exports are equal, decisions count as the reader's, and a sheet is never overwritten."""
    run = (await evaluate(request_of(), settings=settings)).run
    watched = Watched()
    asked = FingerprintRequest(run=run, judge=JUDGE, responses=2, by_hand=True)
    test = await match_fingerprints(asked, settings=settings, transports={"sim": watched})
    assert test.complete
    assert not watched.shown
    assert test.summary["waiting"] == test.summary["tasks"] == 4
    folder = tmp_path / "bundle"
    with Home.open(settings.home, write=False) as home:
        stored = get_run(home, test.run)
        bundle = write_bundle(home, stored, folder)
        write_bundle(home, stored, tmp_path / "again")
        tasks = dict(tasks_of(home, stored))
    assert (bundle.trials, bundle.sheet_existed) == (4, False)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert [str(path) for path in files] == [SHEET, *(f"{TRIALS}/{number:03}.md" for number in range(1, 5)), DATA]
    for path in files:
        text = (folder / path).read_bytes()
        assert text == (tmp_path / "again" / path).read_bytes()
        assert not re.search(rb"sim/|strong|\"truth\"", text), path
    sheet = (folder / SHEET).read_text().splitlines()
    filled = [f"{line}{tasks[line.split(',')[1]].truth.lower()}" for line in sheet[1:]]
    reader = tmp_path / "ann.csv"
    reader.write_text("\n".join([sheet[0], *filled[:2], *sheet[3:]]))
    with Home.open(settings.home, write=True) as home:
        assert await take_matches(home, run, reader) == (stored, 2)
        assert await take_matches(home, "last", reader) == (stored, 0)
        reader.write_text("\n".join([sheet[0], *filled]))
        assert await take_matches(home, test.run, reader) == (stored, 2)
        summary = as_json(fingerprint_figures(home, stored))
        (folder / SHEET).write_text("decided")
        assert write_bundle(home, stored, folder).sheet_existed
        assert (folder / SHEET).read_text() == "decided"
        (folder / SHEET).write_text("trial,task,report_1_is\n1,0123456789abcdef,A\n")
        with pytest.raises(InputError, match="belongs to another test"):
            write_bundle(home, stored, folder)
    assert (summary["by_hand"]["ann"]["right"], summary["by_hand"]["ann"]["trials"]) == (4, 4)
    assert {one["id"] for one in summary["assets"]} == {"fingerprints/ann", "heatmap/fingerprints-ann"}


async def test_bad_lines_are_named_all_at_once_and_nothing_is_kept(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Unknown tasks, other letters, a task twice, broken JSON and a changed mind: line and id of each, in one pass."""
    run = (await evaluate(request_of(), settings=settings)).run
    asked = FingerprintRequest(run=run, judge=JUDGE, responses=2, by_hand=True)
    test = await match_fingerprints(asked, settings=settings)
    with Home.open(settings.home, write=True) as home:
        stored = get_run(home, test.run)
        ids = [id for id, _ in tasks_of(home, stored)]
        path = tmp_path / "bob.jsonl"
        lines = [
            json.dumps({"task": ids[0], "report_1_is": "A"}),
            json.dumps({"task": "absent", "report_1_is": "B"}),
            '{"task": ',
            json.dumps({"task": ids[1], "report_1_is": "both"}),
            json.dumps({"task": ids[0], "report_1_is": "A"}),
            json.dumps({"report_1_is": "A"}),
            json.dumps({"task": ids[2], "report_1_is": None}),
        ]
        path.write_text("\n".join(lines))
        with pytest.raises(InputError) as told:
            await take_matches(home, test.run, path)
        text = str(told.value).splitlines()
        assert [re.findall(r"line (\d)", line)[:1] for line in text[:-1]] == [["2"], ["3"], ["4"], ["5"], ["6"]]
        assert ids[1] in text[2]
        assert "'both'" in text[2]
        assert text[-1] == "nothing was taken in"
        assert as_json(fingerprint_figures(home, stored))["by_hand"] == {}
        path.write_text(lines[0])
        assert (await take_matches(home, test.run, path))[1] == 1
        path.write_text(lines[0].replace('"A"', '"B"'))
        with pytest.raises(InputError, match="bob has decided A before"):
            await take_matches(home, test.run, path)
        for name, text_of, wrong in (
            ("a.csv", "trial,task\n1,x", "no column report_1_is"),
            ("b.csv", f"task,report_1_is\n{ids[0]},", "holds no decision"),
            ("c.csv", "task;report_1_is\nabsent;A", "line 2: run .* has no task 'absent'"),
        ):
            (tmp_path / name).write_text(text_of)
            with pytest.raises(InputError, match=wrong):
                await take_matches(home, test.run, tmp_path / name)
        with pytest.raises(NotFound):
            await take_matches(home, "absent", path)


async def test_two_judges_are_compared_trial_by_trial(settings: Settings, request_of: Requests) -> None:
    """A fork puts the same trials to another judge, so that each is paired with itself; an export names the task."""
    run = (await evaluate(request_of(), settings=settings)).run
    first = await match_fingerprints(FingerprintRequest(run=run, judge=JUDGE, responses=2), settings=settings)
    second = await fork(stored_run(settings, first.run), ForkRequest(judge="sim/judge-noisy"), settings=settings)
    with Home.open(settings.home, write=False) as home:
        runs = [get_run(home, one.run) for one in (first, second)]
        found = as_json(compare_runs(home, *runs))
        export = await export_rows(home, runs[1])
        ids = [id for id, _ in tasks_of(home, runs[0])]
        assert verify(home).ok
    (pair,) = found["pairs"]
    assert (pair["n_shared"], pair["lost"]) == (first.summary["tasks"], {})
    assert [row["task"] for row in export.rows] == ids
    for row in export.rows:
        assert row["score"] == float(row["said"] == row["truth"])


def test_the_truth_of_a_task_is_whose_letter_the_first_report_has() -> None:
    """`one` is whom the first report is about, `a` who is called A."""
    task = FingerprintTask(first="x", second="y", trial=1, samples=("s",), a="y", one="y", answers="{}")
    assert (task.truth, task.two) == ("A", "x")
    assert task.model_copy(update={"one": "x"}).truth == "B"
