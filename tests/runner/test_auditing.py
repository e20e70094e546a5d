"""Rubrics and audits end to end: from reviews to rubric files, gated scores beside the planted truth, kills and bad input."""

import asyncio
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from dokimasia.methods.audit.auditing import audit, resume_audit
from dokimasia.methods.audit.plan import AuditRequest
from dokimasia.methods.rubrics.making import RUBRICS, make_rubrics, rubric_items
from dokimasia.methods.rubrics.plan import RubricRequest

from dokimasia.domain.call import ChatReply, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import ConfigError, DataError, InputError, Interrupted, NotFound
from dokimasia.methods.audit.analysing import ANALYSES, analyse
from dokimasia.methods.audit.results import audit_items, audit_summary
from dokimasia.methods.checks.checking import decide, pending_checks
from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.methods.rubrics.files import encode_sets, read_sets, sets_of_run
from dokimasia.prompts import recognise
from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.rubric_judging import holds
from dokimasia.simulation.transport import SimTransport
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")
POOL = ("sim/hasty", "sim/nearsighted", "sim/weak")
MODELS = ("sim/strong", "sim/steady", "sim/weak")


class Made:
    """A planted world with a reviewed home, its rubrics, and those as a file."""

    def __init__(self, folder: Path) -> None:
        self.home, self.data, self.file = folder / "home", folder / "data.jsonl", folder / "rubrics.jsonl"
        write_described(self.data, 14, 3)
        self.settings = load_settings(home=self.home, cwd=folder, env={})
        review = ReviewRequest(data=self.data, panel=PANEL)
        self.review = asyncio.run(run(METHOD, review, settings=self.settings)).run
        self.rubrics = asyncio.run(make_rubrics(self.request(), settings=self.settings)).run
        with Home.open(self.home, write=False) as home:
            self.file.write_bytes(encode_sets(sets_of_run(home, get_run(home, self.rubrics))))

    def request(self, **changes: Any) -> RubricRequest:
        fields = {"data": Path(self.review), "source": self.review, "judge": "sim/judge", "pool": POOL}
        return RubricRequest.model_validate(fields | changes)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A reviewed world with rubrics, which no test changes."""
    return Made(tmp_path_factory.mktemp("rubrics"))


@pytest.fixture
def copied(made: Made, tmp_path: Path) -> Settings:
    """Settings with a copy of that home at another place."""
    shutil.copytree(made.home, tmp_path / "copy")
    return load_settings(home=tmp_path / "copy", cwd=tmp_path, env={})


def auditing(made: Made, **changes: Any) -> AuditRequest:
    fields = {"data": made.data, "rubrics": str(made.file), "models": MODELS, "judge": "sim/judge"}
    return AuditRequest.model_validate(fields | changes)


def audited(settings: Settings, request: AuditRequest, **options: Any) -> RunResult:
    return asyncio.run(audit(request, settings=settings, **options))


def items_of(settings: Settings, run: str) -> list[dict[str, Any]]:
    with Home.open(settings.home, write=False) as home:
        return list(audit_items(home, get_run(home, run)))


def test_rubrics_of_every_golden_caption(made: Made) -> None:
    """Each golden caption has must-right rubrics and those mined from the pool, with evidence and support, of its domain."""
    with Home.open(made.home, write=False) as home:
        sets = sets_of_run(home, get_run(home, made.rubrics))
    assert len(sets) >= 7
    for one in sets:
        assert 1 <= len(one.must_right) <= 5
        assert one.domain is not None
        assert one.images
        assert one.panel == PANEL
        assert not one.verified
        assert all(rubric.evidence in one.caption for rubric in one.must_right)
        assert all(set(rubric.support) <= set(POOL) and rubric.support for rubric in one.easy_wrong)
        assert all(holds(rubric.statement, one.caption) for rubric in one.rubrics)


def test_scores_equal_the_planted_truth_where_the_judge_is_perfect(made: Made, settings: Settings) -> None:
    """Each judged rubric is as the planted world has it, and the gated score follows by the plain formula."""
    result = audited(settings, auditing(made))
    assert result.complete
    scores: dict[str, list[float]] = {}
    for item in items_of(settings, result.run):
        for stream in ("must_right", "easy_wrong"):
            assert [one["holds"] for one in item[stream]] == [
                holds(one["statement"], item["response"]) for one in item[stream]
            ]
        passed = all(holds(one["statement"], item["response"]) for one in item["must_right"])
        fine = [holds(one["statement"], item["response"]) for one in item["easy_wrong"]] or [True]
        score = 100.0 * sum(fine) / len(fine) if passed else 0.0
        assert item["score"] == pytest.approx(score, abs=1e-5)
        scores.setdefault(item["model"], []).append(score)
    for name, values in scores.items():
        figure = result.summary["models"][name]["overall"]
        assert figure["mean"] == pytest.approx(sum(values) / len(values), abs=1e-5)
        assert figure["low"] < figure["high"]
    means = {name: result.summary["models"][name]["overall"]["mean"] for name in MODELS}
    assert means["sim/strong"] > means["sim/steady"] > means["sim/weak"]


def test_an_imperfect_judges_intervals_cover_the_truth(made: Made, settings: Settings) -> None:
    """Where the judge errs and fails, the intervals still cover the score that the responses deserve; failures count."""
    truth = audited(settings, auditing(made)).summary["models"]
    noisy = audited(settings, auditing(made, judge="sim/judge-noisy")).summary["models"]
    for name in MODELS:
        assert noisy[name]["overall"]["low"] <= truth[name]["overall"]["mean"] <= noisy[name]["overall"]["high"]
        assert noisy[name]["n"] == truth[name]["n"]
        assert noisy[name]["n_scored"] + sum(noisy[name]["failures"].values()) == noisy[name]["n"]


def test_a_published_file_audits_alike_in_an_empty_home(made: Made, settings: Settings, copied: Settings) -> None:
    """By the run, in a copied home, and by the exported file, in an empty one, a new model has the same scores."""
    by_run = audited(copied, auditing(made, rubrics=made.rubrics, models=("sim/steady",)))
    by_file = audited(settings, auditing(made, models=("sim/steady",)))
    assert by_run.run == by_file.run
    assert by_run.summary["models"] == by_file.summary["models"]
    assert items_of(copied, by_run.run) == items_of(settings, by_file.run)
    assert [one.rubrics for one in read_sets(made.file)] == [
        tuple(rubric.model_copy(update={"repaired": False}) for rubric in one.rubrics) for one in read_sets(made.file)
    ]
    assert encode_sets(read_sets(made.file)) == made.file.read_bytes()


def test_the_same_command_asks_nothing_again(made: Made, settings: Settings) -> None:
    """A finished audit is printed from its rows; --fresh makes a new run that the ledger answers with the same figures."""
    request = auditing(made, repeats=2, no_image=True)
    first = audited(settings, request)
    again = audited(settings, request, transports={})
    assert again == first
    fresh = audited(settings, request.model_copy(update={"fresh": True}), transports={"sim": Refusing()})
    assert fresh.run != first.run
    assert fresh.summary["models"] == first.summary["models"]
    assert set(first.summary["models"]) == {*MODELS, *(f"{name}#blind" for name in MODELS)}
    assert set(first.summary["blind"]) == set(MODELS)
    assert first.summary["models"]["sim/steady"]["spread"] is not None


def test_stopped_and_resumed(made: Made, settings: Settings, tmp_path: Path) -> None:
    """An audit that is stopped goes on from the store alone, without the data and the file, to the same figures."""
    whole = audited(load_settings(home=tmp_path / "whole", cwd=tmp_path, env={}), auditing(made))
    stop = Stop()
    counting = Stopping(stop, after=25)
    file, data = tmp_path / "rubrics.jsonl", tmp_path / "data.jsonl"
    shutil.copy(made.file, file)
    shutil.copytree(made.data.parent / "images", tmp_path / "images")
    shutil.copy(made.data, data)
    with pytest.raises(Interrupted):
        audited(settings, auditing(made, data=data, rubrics=str(file)), transports={"sim": counting}, stop=stop)
    file.unlink()
    data.unlink()
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, whole.run)
        before = audit_summary(home, run)
    assert run.status == "interrupted"
    assert before["open_items"] > 0
    later = Stopping(Stop(), after=10**9)
    ended = asyncio.run(resume_audit(run, settings=settings, transports={"sim": later}))
    assert ended.summary["models"] == whole.summary["models"]
    assert not set(counting.done) & set(later.done), "a call that was finished was sent again"


def test_a_budget_leaves_items_open(made: Made, settings: Settings) -> None:
    """What may not be paid for is open, not failed for good; without the limit it is done."""
    short = audited(settings, auditing(made, max_calls=20))
    assert not short.complete
    ended = audited(settings, auditing(made))
    assert ended.complete
    assert all(one["n_scored"] == one["n"] for one in ended.summary["models"].values())


def test_a_judge_that_leaves_a_rubric_out_is_asked_once_more(made: Made, settings: Settings) -> None:
    """One result too few goes back with the reason; twice is a failure of the judgement, never a false."""
    judge = Answering(lambda count: "drop" if count == 1 else "whole")
    mended = audited(settings, auditing(made, models=("sim/steady",)), transports={"sim": judge})
    assert mended.summary["models"]["sim/steady"]["failures"] == {}
    assert any("has" in problem and "results for" in problem for problem in judge.problems)
    for how in ("drop", "swap", "partially"):
        judge = Answering(lambda _, how=how: how)
        request = auditing(made, models=("sim/steady",), judge="sim/judge-lenient", fresh=True)
        failed = audited(settings, request, transports={"sim": judge}).summary["models"]["sim/steady"]
        assert failed["overall"] is None
        assert failed["failures"] == {"unparsable": failed["n"]}
        assert failed["bounds"]["overall"] == {"low": 0, "high": 100}
        settings = replace(settings, home=settings.home.with_name(f"home-{how}"))


def test_people_decide_on_captions_and_rubrics(made: Made, copied: Settings) -> None:
    """A rejected caption gets no rubrics, an edited one is taken as edited; rejected and edited rubrics bind the audit."""
    captions = pending_checks(made.review, settings=copied)
    decide(captions[0].item, "reject", who="ann", settings=copied)
    decide(captions[1].item, "edit", who="ann", text=f"{captions[1].text} Nothing else is there.", settings=copied)
    decide(captions[2].item, "accept", who="ann", settings=copied)
    result = asyncio.run(make_rubrics(made.request(), settings=copied))
    assert result.run != made.rubrics
    with Home.open(copied.home, write=False) as home:
        sets = {one.sample_id: one for one in sets_of_run(home, get_run(home, result.run))}
    assert captions[0].item.sample_id not in sets
    assert sets[captions[1].item.sample_id].caption.endswith("Nothing else is there.")
    assert sets[captions[2].item.sample_id].verified
    assert not sets[captions[3].item.sample_id].verified
    assert any("rejected by a person" in one for one in result.summary["skipped"])
    waiting = [one.item for one in pending_checks(result.run, settings=copied)]
    sample = sets[waiting[0].sample_id]
    text = "The response must not mention a unicorn."
    for number, item in enumerate([one for one in waiting if one.sample_id == sample.sample_id]):
        if number == 0:
            decide(item, "reject", who="ann", settings=copied)
        elif number == 1:
            decide(item, "edit", who="ann", text=text, settings=copied)
        else:
            decide(item, "accept", who="ann", settings=copied)
    with Home.open(copied.home, write=False) as home:
        after = next(one for one in sets_of_run(home, get_run(home, result.run)) if one.sample_id == sample.sample_id)
    assert len(after.rubrics) == len(sample.rubrics) - 1
    assert (after.rubrics[0].statement, after.rubrics[0].polarity) == (text, "negative")
    assert after.checked


def test_rubrics_stopped_and_resumed(made: Made, copied: Settings) -> None:
    """The making of rubrics goes on where it stopped, sends no finished call again, and ends with the same sets."""
    request = made.request(pool=("sim/steady", "sim/weak"))
    stop = Stop()
    counting = Stopping(stop, after=30)
    with pytest.raises(Interrupted):
        asyncio.run(make_rubrics(request, settings=copied, transports={"sim": counting}, stop=stop))
    with Home.open(copied.home, write=False) as home:
        run = next(one for one in (get_run(home, id) for id in _runs(home)) if one.status == "interrupted")
    later = Stopping(Stop(), after=10**9)
    ended = asyncio.run(resume_images(RUBRICS, run, settings=copied, transports={"sim": later}))
    assert ended.complete
    assert not set(counting.done) & set(later.done), "a call that was finished was sent again"
    shutil.copytree(made.home, copied.home.with_name("other"))
    whole = replace(copied, home=copied.home.with_name("other"))
    straight = asyncio.run(make_rubrics(request, settings=whole))
    assert straight.run == ended.run
    assert straight.summary == ended.summary


def test_a_file_of_captions_needs_no_review(made: Made, settings: Settings, tmp_path: Path) -> None:
    """Captions that came with the data make rubrics too; without a review there is no panel unless one is named."""
    sets = read_sets(made.file)[:3]
    shutil.copytree(made.data.parent / "images", tmp_path / "images")
    rows = {row["id"]: row for row in map(json.loads, made.data.read_text().splitlines())}
    data = tmp_path / "captions.jsonl"
    lines = [{**rows[one.sample_id], "reference_answer": one.caption} for one in sets]
    data.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    request = RubricRequest(data=data, judge="sim/judge", pool=POOL)
    result = asyncio.run(make_rubrics(request, settings=settings))
    assert result.summary["sets"] == 3
    assert result.summary["panel"] == []
    with Home.open(settings.home, write=False) as home:
        items = list(rubric_items(home, get_run(home, result.run)))
    for item, one in zip(items, sets, strict=True):
        assert [rubric["statement"] for rubric in item["set"]["rubrics"]] == [r.statement for r in one.rubrics]
    lines[0].pop("reference_answer")
    data.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    with pytest.raises(DataError, match="has no caption"):
        asyncio.run(make_rubrics(request, settings=settings))


def test_bad_input_is_named(made: Made, settings: Settings, copied: Settings, tmp_path: Path) -> None:
    """No models, the same model twice, no rubrics, another image, another kind of run: what is wrong, and the way out."""
    with pytest.raises(ConfigError, match="--models names no model"):
        audited(settings, auditing(made, models=()))
    with pytest.raises(ConfigError, match="twice"):
        audited(settings, auditing(made, models=("sim/weak", "sim/weak")))
    with pytest.raises(NotFound, match="no such file"):
        audited(settings, auditing(made, rubrics=str(tmp_path / "missing.jsonl")))
    with pytest.raises(NotFound, match="has no rubrics"):
        audited(copied, auditing(made, rubrics=made.review))
    with pytest.raises(ConfigError, match="--pool names no model"):
        asyncio.run(make_rubrics(made.request(pool=()), settings=copied))
    with pytest.raises(InputError):
        asyncio.run(make_rubrics(made.request(source=made.rubrics), settings=copied))
    lines = [json.loads(line) for line in made.file.read_text().splitlines()]
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({**lines[0], "images": ["0" * 64]}) + "\n")
    with pytest.raises(DataError, match="another image"):
        audited(settings, auditing(made, rubrics=str(other)))
    other.write_text(json.dumps({**lines[0], "id": "unknown", "images": []}) + "\n")
    with pytest.raises(DataError, match="no rubrics for any"):
        audited(settings, auditing(made, rubrics=str(other)))
    other.write_text(json.dumps({**lines[0], "id": "renamed"}) + "\n")
    assert audited(settings, auditing(made, rubrics=str(other), models=("sim/weak",))).summary["samples"] == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "something/1"}, 'it needs "format"'),
        ({"must_right": [], "easy_wrong": []}, "no rubric in either stream"),
        ({"must_right": [{"statement": ""}]}, "must_right"),
        ({"must_right": [" "]}, "empty statement"),
        ({"must_right": [{"statement": "x", "polarity": "maybe"}]}, "must_right"),
        ({"domain": "weather"}, "domain"),
        ({"extra": 1}, "extra"),
        ({"id": ""}, "id"),
    ],
)
def test_lines_that_are_no_rubrics(made: Made, tmp_path: Path, change: Mapping[str, Any], reason: str) -> None:
    """A line that cannot be used is named with file, line and field."""
    line = json.loads(made.file.read_text().splitlines()[0])
    path = tmp_path / "rubrics.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "id": "second", **change}) + "\n")
    with pytest.raises(DataError, match=f"line 2.*{reason}"):
        read_sets(path)


def test_files_as_others_write_them(tmp_path: Path) -> None:
    """Bare statements and no images are enough; the same sample twice, no JSON and an empty file are not."""
    path = tmp_path / "rubrics.jsonl"
    path.write_text(
        '{"format": "dokimasia-rubrics/1", "id": "a", "must_right": ["The response must name a cat."], '
        '"easy_wrong": ["The response must NOT mention a dog."]}\n'
    )
    (one,) = read_sets(path)
    assert [rubric.polarity for rubric in one.rubrics] == ["positive", "negative"]
    path.write_text(path.read_text() * 2)
    with pytest.raises(DataError, match="line 2: sample 'a' has its rubrics in line 1"):
        read_sets(path)
    path.write_text("{\n")
    with pytest.raises(DataError, match="line 1: not JSON"):
        read_sets(path)
    path.write_text("\n")
    with pytest.raises(DataError, match="no rubrics in it"):
        read_sets(path)


def test_analyses_of_a_run(made: Made, settings: Settings, tmp_path: Path) -> None:
    """All analyses are there when ratings and another judge are named, each with a sentence; equal rows, equal bytes."""
    models = (*MODELS, "sim/hasty")
    first = audited(settings, auditing(made, models=models))
    second = audited(settings, auditing(made, models=models, judge="sim/judge-noisy"))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("model,rating\nsim/strong,4\nsim/steady,3\nsim/hasty,2\nsim/weak,1\n")
    with Home.open(settings.home, write=False) as home:
        run, other = get_run(home, first.run), get_run(home, second.run)
        found = analyse(home, run, ratings=ratings, against=other)
        assert found == analyse(home, run, ratings=ratings, against=other)
        with pytest.raises(ConfigError, match="the same run"):
            analyse(home, run, against=run)
    assert tuple(found["analyses"]) == ANALYSES
    assert all(one["says"].endswith(".") for one in found["analyses"].values())
    assert found["analyses"]["agreement"]["gated"]["spearman"]["value"] > 0.7
    assert found["analyses"]["two_judges"]["decisions"]["n"] > 100
    assert found["analyses"]["coverage"]["shares"].keys() == {"20", "40", "60", "80"}


class Refusing:
    """A transport that may not be used."""

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        raise AssertionError("nothing was to be sent")

    async def aclose(self) -> None:
        """Close nothing."""


class Stopping:
    """The simulated models, with a stop after so many calls; `done` are the calls that came back."""

    def __init__(self, stop: Stop, *, after: int) -> None:
        self._inner: Transport = SimTransport()
        self._stop, self._after = stop, after
        self.done: list[str] = []

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        reply = await self._inner.send(call, spec, api_key=api_key, blobs=blobs)
        await asyncio.sleep(0.001)
        self.done.append(call.model_dump_json())
        if len(self.done) == self._after:
            self._stop.ask()
        return reply

    async def aclose(self) -> None:
        """Close nothing."""


class Answering:
    """The simulated models, with a judge whose assessments are spoilt in a named way; `problems` are what was sent back."""

    def __init__(self, how: Any) -> None:
        self._inner: Transport = SimTransport()
        self._how = how
        self._asked: dict[str, int] = {}
        self.problems: list[str] = []

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        request = recognise(call.messages) if call.kind == "chat" else None
        reply = await self._inner.send(call, spec, api_key=api_key, blobs=blobs)
        if request is None or request.name != "rubric_assessment" or not isinstance(reply, ChatReply):
            return reply
        if request.problem:
            self.problems.append(request.problem)
        key = json.dumps(request.inputs, sort_keys=True)
        self._asked[key] = self._asked.get(key, 0) + 1
        how, text = self._how(self._asked[key]), reply.text
        first = "<Result>true</Result>" if "<Result>true</Result>" in text else "<Result>false</Result>"
        if how == "drop":
            text = text.replace(first, "", 1)
        elif how == "partially":
            text = text.replace(first, "<Result>partially</Result>", 1)
        elif how == "swap":
            text = text.replace("GroupA", "GroupC").replace("GroupB", "GroupA").replace("GroupC", "GroupB")
            text = text.replace("</Assessment>", "<GroupA><Result>true</Result></GroupA></Assessment>")
        return reply.model_copy(update={"text": text})

    async def aclose(self) -> None:
        """Close nothing."""


def _runs(home: Home) -> list[str]:
    return [id for (id,) in home.all("SELECT id FROM runs ORDER BY id")]
