"""Rubrics and audits end to end: from reviews to rubric files, gated scores beside the planted truth, kills and bad input."""

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from dokimasia.cli.main import run as command
from dokimasia.domain.call import ChatReply, ModelCall, ModelReply
from dokimasia.errors import ConfigError, DataError, InputError, Interrupted, NotFound
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.audit import METHOD as AUDIT
from dokimasia.methods.audit import AuditPlan, AuditRequest, audit
from dokimasia.methods.audit.analyses import analyse
from dokimasia.methods.density import METHOD as FILTER
from dokimasia.methods.density import FilterRequest
from dokimasia.methods.review import ReviewRequest, review
from dokimasia.methods.rubrics import METHOD as RUBRICS
from dokimasia.methods.rubrics import RubricRequest, encode_sets, make_rubrics, read_sets, sets_of_run
from dokimasia.methods.rubrics.report import section
from dokimasia.people.checks import decide, pending_checks
from dokimasia.prompts import recognise
from dokimasia.report.blocks import Bullets, Table, plain
from dokimasia.report.data import ReportData
from dokimasia.report.fields import as_json
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.preview import preview
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.judging.rubrics import meets_rubric
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from dokimasia.storage.verification import verify_home

PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")
POOL = ("sim/hasty", "sim/nearsighted", "sim/weak")
MODELS = ("sim/strong", "sim/steady", "sim/weak")


class Made:
    """A planted world with a reviewed home, its rubrics, and those as a file."""

    def __init__(self, folder: Path) -> None:
        self.home, self.data, self.file = folder / "home", folder / "data.jsonl", folder / "rubrics.jsonl"
        write_described(self.data, 21, 3)
        self.settings = load_settings(home=self.home, cwd=folder, env={})
        request = ReviewRequest(data=self.data, panel=PANEL)
        self.review = asyncio.run(review(request, settings=self.settings)).run
        self.rubrics = asyncio.run(make_rubrics(self.request(), settings=self.settings)).run
        with Home.open(self.home, write=False) as home:
            self.file.write_bytes(encode_sets(sets_of_run(home, get_run(home, self.rubrics))))

    def request(self, **changes: Any) -> RubricRequest:
        fields = {"data": self.review, "judge": "sim/judge", "pool": POOL}
        return RubricRequest.model_validate(fields | changes)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A reviewed world with rubrics, which no test changes."""
    return Made(tmp_path_factory.mktemp("rubrics"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty home."""
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


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
        return list(AUDIT.results.items(home, get_run(home, run), None))


def test_rubrics_of_every_golden_caption(made: Made) -> None:
    """Each golden caption has must-right rubrics and easy-wrong ones, mined from the pool first, with evidence and support."""
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
        assert all(set(rubric.support) <= set(POOL) for rubric in one.easy_wrong)
        assert any(rubric.support for rubric in one.easy_wrong)
        assert not all(rubric.support for rubric in one.easy_wrong), (
            "facts of the caption fill up what the pool got right"
        )
        assert all(meets_rubric(rubric.statement, one.caption) for rubric in one.rubrics)


def test_a_dry_run_shows_the_prompts_of_rubrics_audits_and_the_filter(made: Made, settings: Settings) -> None:
    """Each prompt that a run is going to send stands there, with the names of its inputs, in the wording of its protocol."""
    shown = preview(RUBRICS, made.request(protocol="published"), settings=made.settings)["prompts"]
    assert isinstance(shown, dict)
    assert {"must_right_natural", "easy_wrong_published", "rubric_assessment_published"} < set(shown)
    assert not {"easy_wrong", "rubric_assessment", "repair"} & set(shown)
    assert "undeniable" in shown["must_right_natural"][0]["text"]
    audited_by = preview(AUDIT, auditing(made), settings=settings)["prompts"]
    assert isinstance(audited_by, dict)
    assert set(audited_by) == {"candidate_plain", "rubric_assessment"}
    assert "{{response}}" in audited_by["rubric_assessment"][1]["text"]
    filtered = preview(FILTER, FilterRequest(data=made.data, judge="sim/judge"), settings=settings)["prompts"]
    assert isinstance(filtered, dict)
    assert set(filtered) == {"density", "domain"}


def test_an_audit_as_published_demands_no_exact_wording(made: Made, settings: Settings) -> None:
    """It asks by the paper's prompt, says so in its figures, and is another run."""
    ours = audited(settings, auditing(made, models=("sim/strong",)))
    published = audited(settings, auditing(made, models=("sim/strong",), protocol="published"))
    assert ours.run != published.run
    assert (ours.summary["protocol"], published.summary["protocol"]) == ("default", "published")
    with Home.open(settings.home, write=False) as home:
        prompts = get_run(home, published.run).plan_as(AuditPlan).prompts
    assert "rubric_assessment_published" in prompts
    assert "rubric_assessment" not in prompts


def test_reasons_stand_beside_the_rubrics_everywhere(
    made: Made, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flawless judge decides alike with and without; reasons are in items, on the page and in the export, or absent."""
    plain = audited(settings, auditing(made, models=("sim/strong",)))
    done = audited(settings, auditing(made, models=("sim/strong",), reasons=True))
    assert plain.run != done.run
    assert plain.summary["models"] == done.summary["models"]
    before, after = items_of(settings, plain.run), items_of(settings, done.run)
    results = [result for item in after for result in (*item["must_right"], *item["easy_wrong"])]
    assert {result["reason"] for result in results if result["holds"]} == {"The response has what the rubric demands."}
    assert all(result["reason"] for result in results)
    assert not any("reason" in result for item in before for result in (*item["must_right"], *item["easy_wrong"]))
    with Home.open(settings.home, write=False) as home:
        run, old = get_run(home, done.run), get_run(home, plain.run)
        prompts = run.plan_as(AuditPlan).prompts
        assert set(prompts) ^ set(old.plan_as(AuditPlan).prompts) == {"rubric_assessment", "rubric_assessment_reasons"}
        rows, old_rows = asyncio.run(export_rows(home, run)).rows, asyncio.run(export_rows(home, old)).rows
        for row, item in zip(rows, after, strict=True):
            assert row["must_right_reasons"] == [result["reason"] for result in item["must_right"]]
            assert row["easy_wrong_reasons"] == [result["reason"] for result in item["easy_wrong"]]
        assert {(row["must_right_reasons"], row["easy_wrong_reasons"]) for row in old_rows} == {(None, None)}
        assert [row["must_right"] for row in rows] == [row["must_right"] for row in old_rows]
        assert not [finding for check in verify_home(home) for finding in check.findings]
    shown = ("show", "--home", str(settings.home), "--sample", after[0]["sample"])
    assert command([*shown, done.run]) == 0
    assert "The response has what the rubric demands." in " ".join(capsys.readouterr().out.split())
    assert command([*shown, plain.run]) == 0
    assert "what the rubric demands" not in " ".join(capsys.readouterr().out.split())


def test_as_published_the_judge_gives_no_reasons(made: Made, settings: Settings) -> None:
    """The option is refused beside the paper's prompts."""
    with pytest.raises(ConfigError, match="as published the judge gives results alone; leave out `reasons`"):
        audited(settings, auditing(made, protocol="published", reasons=True))


def test_scores_equal_the_planted_truth_where_the_judge_is_perfect(made: Made, settings: Settings) -> None:
    """Each judged rubric is as the planted world has it, and the gated score follows by the plain formula."""
    result = audited(settings, auditing(made))
    assert result.complete
    scores: dict[str, list[float]] = {}
    for item in items_of(settings, result.run):
        for stream in ("must_right", "easy_wrong"):
            assert [one["holds"] for one in item[stream]] == [
                meets_rubric(one["statement"], item["response"]) for one in item[stream]
            ]
        passed = all(meets_rubric(one["statement"], item["response"]) for one in item["must_right"])
        fine = [meets_rubric(one["statement"], item["response"]) for one in item["easy_wrong"]] or [True]
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


def test_arms_and_repeats(made: Made, settings: Settings) -> None:
    """Without the image every model answers in an arm of its own, and repeats have a spread."""
    found = audited(settings, auditing(made, repeats=2, no_image=True)).summary
    assert set(found["models"]) == {*MODELS, *(f"{name}#blind" for name in MODELS)}
    assert set(found["blind"]) == set(MODELS)
    assert found["models"]["sim/steady"]["spread"] is not None


def test_resumed_without_data_and_file(made: Made, settings: Settings, tmp_path: Path) -> None:
    """An audit that is stopped goes on from the store alone, without the data and the file, to the same figures."""
    whole = audited(load_settings(home=tmp_path / "whole", cwd=tmp_path, env={}), auditing(made))
    file, data = tmp_path / "rubrics.jsonl", tmp_path / "data.jsonl"
    shutil.copy(made.file, file)
    shutil.copytree(made.data.parent / "images", tmp_path / "images")
    shutil.copy(made.data, data)
    stop = Stop()
    stopping = CountingTransport(SimTransport(), stop=stop.ask, stop_after=25)
    with pytest.raises(Interrupted):
        audited(settings, auditing(made, data=data, rubrics=file), transports={"sim": stopping}, stop=stop)
    file.unlink()
    data.unlink()
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, whole.run)
        before = AUDIT.json_figures(home, run)
    assert run.status == "interrupted"
    assert before["open_items"] > 0
    ended = asyncio.run(resume(run, settings=settings))
    assert ended.summary["models"] == whole.summary["models"]


def test_forks_need_no_file(made: Made, copied: Settings, tmp_path: Path) -> None:
    """Another judge has the samples, captions and rubric sets of the run before, and asks the models nothing again."""
    file, data = tmp_path / "rubrics.jsonl", tmp_path / "data.jsonl"
    shutil.copy(made.file, file)
    shutil.copytree(made.data.parent / "images", tmp_path / "images")
    shutil.copy(made.data, data)
    first = audited(copied, auditing(made, data=data, rubrics=file))
    file.unlink()
    data.unlink()
    other = ForkRequest(judge="sim/judge-lenient")
    for run, method in ((first.run, AUDIT), (made.rubrics, RUBRICS)):
        with Home.open(copied.home, write=False) as home:
            parent = get_run(home, run)
            before = method.json_figures(home, parent)
        counting = CountingTransport(SimTransport())
        forked = asyncio.run(fork(parent, other, settings=copied, transports={"sim": counting}))
        assert {*counting.by_model} <= {"sim/judge-lenient", *PANEL}
        assert forked.summary["judge"] == "sim/judge-lenient"
        for same in ("samples", "skipped", "without_rubrics", "pool", "panel", "request"):
            assert forked.summary.get(same) == before.get(same)
    panel = ForkRequest(models={PANEL[2]: "sim/strong"})
    forked = asyncio.run(fork(parent, panel, settings=copied))
    assert forked.summary["panel"] == [*PANEL[:2], "sim/strong"]


def test_what_exports_say(made: Made, copied: Settings) -> None:
    """A response has its text and a decision for each rubric; a set has its statements by stream; a failure has none."""
    judge = Answering(lambda _: "drop")
    with_failures = audited(copied, auditing(made, models=("sim/steady",)), transports={"sim": judge.transport})
    whole = audited(copied, auditing(made, models=("sim/strong",)))
    with Home.open(copied.home, write=False) as home:
        failed, scored, sets = (
            asyncio.run(export_rows(home, get_run(home, run))).rows
            for run in (with_failures.run, whole.run, made.rubrics)
        )
        rubrics = {one.sample_id: one for one in sets_of_run(home, get_run(home, made.rubrics))}
    assert all(row["must_right"] is None and row["response"] and row["failure"] == "unparsable" for row in failed)
    for row, item in zip(scored, items_of(copied, whole.run), strict=True):
        assert (row["response"], row["domain"]) == (item["response"], item["domain"])
        for stream in ("must_right", "easy_wrong"):
            assert row[stream] == [int(one["holds"]) for one in item[stream]]
    for row in sets:
        assert row["must_right"] == [one.statement for one in rubrics[row["id"]].must_right]
        assert row["caption"] == rubrics[row["id"]].caption


def test_audits_are_compared_by_rubrics_on_the_scale_that_is_shown(
    made: Made, copied: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`diff` of two audits knows that rubrics are the same, from a run or its file, calls them so, and speaks of percent."""
    lines = list(map(orjson.loads, made.file.read_bytes().splitlines()))
    lines[0]["must_right"] = lines[0]["must_right"][:1]
    lines[0]["easy_wrong"] = []
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    asked = [
        auditing(made),
        auditing(made, rubrics=made.rubrics, judge="sim/judge-noisy"),
        auditing(made, rubrics=str(other)),
    ]
    done = [audited(copied, one) for one in asked]
    for second, same in ((done[1], len(lines)), (done[2], len(lines) - 1)):
        assert command(["diff", done[0].run, second.run, "--json", "--home", str(copied.home)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["scored_by"], found["scale"]) == ("rubrics", [0.0, 100.0])
        for one in found["pairs"]:
            assert (one["same_criteria"], one["n_paired"]) == (same, len(lines))
            shown = done[0].summary["models"][one["first_model"]]["overall"]["mean"]
            assert one["first"] == pytest.approx(shown, abs=1e-4)
    assert command(["diff", done[0].run, done[1].run, "--home", str(copied.home)]) == 0
    said = capsys.readouterr().out
    assert f"the same rubrics on both sides in {len(lines)} of {len(lines)} samples" in said
    assert "criteria" not in said
    assert "scale from 0 to 100" in " ".join(said.split())


def test_commands_repeat_what_was_asked(made: Made, copied: Settings) -> None:
    """A run says by which command it is repeated: with the review's id in place of `last`, and the panel that it had."""
    nobody = asyncio.run(make_rubrics(made.request(panel=()), settings=copied))
    named = audited(copied, auditing(made, rubrics=made.rubrics, models=("sim/weak",)))
    with Home.open(copied.home, write=False) as home:
        first, second, third = (get_run(home, id).command for id in (made.rubrics, nobody.run, named.run))
    begin = f"rubrics {made.review} --judge sim/judge --pool {','.join(POOL)}"
    assert first == f"{begin} --panel {','.join(PANEL)}"
    assert second == f"{begin} --panel none"
    assert third == f"audit data.jsonl --rubrics {made.rubrics} --models sim/weak --judge sim/judge"


def test_a_judge_that_leaves_a_rubric_out_is_asked_once_more(made: Made, settings: Settings) -> None:
    """One result too few goes back with the reason; twice is a failure of the judgement, never a false."""
    judge = Answering(lambda count: "drop" if count == 1 else "whole")
    mended = audited(settings, auditing(made, models=("sim/steady",)), transports={"sim": judge.transport})
    assert mended.summary["models"]["sim/steady"]["failures"] == {}
    assert any("has" in problem and "results for" in problem for problem in judge.problems)
    for how in ("drop", "swap", "partially"):
        judge = Answering(lambda _, how=how: how)
        request = auditing(made, models=("sim/steady",), judge="sim/judge-lenient", fresh=True)
        failed = audited(settings, request, transports={"sim": judge.transport}).summary["models"]["sim/steady"]
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


def test_two_captions_of_one_picture_are_two_samples(made: Made, settings: Settings, tmp_path: Path) -> None:
    """Sets are counted in samples, with the number of pictures that these are of."""
    one = read_sets(made.file)[0]
    shutil.copytree(made.data.parent / "images", tmp_path / "images")
    row = next(row for row in map(json.loads, made.data.read_text().splitlines()) if row["id"] == one.sample_id)
    lines = [{**row, "id": name, "caption": one.caption} for name in ("first", "second")]
    data = tmp_path / "captions.jsonl"
    data.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    request = RubricRequest(data=data, judge="sim/judge", pool=POOL)
    summary = asyncio.run(make_rubrics(request, settings=settings)).summary
    assert (summary["sets"], summary["images"]) == (2, 1)
    drawn = section(ReportData(RUBRICS.report.drawing(), cast("Any", None), summary))
    table = next(block for block in drawn.blocks if isinstance(block, Table))
    lines = next(block for block in drawn.blocks if isinstance(block, Bullets)).items
    assert [column.title for column in table.columns] == ["stream", "rubrics", "per sample"]
    assert plain(lines[0]).startswith("sets for 2 of 2 samples (1 image), ")


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
        items = list(RUBRICS.results.items(home, get_run(home, result.run), None))
    for item, one in zip(items, sets, strict=True):
        assert [rubric["statement"] for rubric in item["set"]["rubrics"]] == [r.statement for r in one.rubrics]
    lines[0].pop("reference_answer")
    data.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    with pytest.raises(DataError, match="has no caption"):
        asyncio.run(make_rubrics(request, settings=settings))


def test_bad_input_is_named(made: Made, settings: Settings, copied: Settings, tmp_path: Path) -> None:
    """No models, the same model twice, no rubrics, another image, another kind of run: what is wrong, and the way out."""
    with pytest.raises(
        ConfigError, match="name at least one model with `models`, or existing descriptions with responses=FILE"
    ):
        audited(settings, auditing(made, models=()))
    with pytest.raises(ConfigError, match="twice"):
        audited(settings, auditing(made, models=("sim/weak", "sim/weak")))
    with pytest.raises(NotFound, match="no such file"):
        audited(settings, auditing(made, rubrics=str(tmp_path / "missing.jsonl")))
    with pytest.raises(NotFound, match="has no rubrics"):
        audited(copied, auditing(made, rubrics=made.review))
    with pytest.raises(ConfigError, match="`pool` names no model"):
        asyncio.run(make_rubrics(made.request(pool=()), settings=copied))
    with pytest.raises(InputError):
        asyncio.run(make_rubrics(made.request(data=made.rubrics), settings=copied))
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


def test_a_caption_of_one_word_is_named(made: Made, settings: Settings) -> None:
    """No rubric can be made from one word, and asking again does not help: it is said before anything is asked."""
    line = json.loads(made.data.read_text().splitlines()[0])
    data = made.data.with_name("short.jsonl")
    data.write_text(json.dumps({"id": "s1", "image": line["image"], "caption": " Tomatoes "}) + "\n")
    with pytest.raises(DataError, match="sample 's1' has a caption of one word, 'Tomatoes'"):
        asyncio.run(make_rubrics(made.request(data=data), settings=settings))


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
        found = as_json(analyse(home, run, ratings=ratings, against=other))
        assert found == as_json(analyse(home, run, ratings=ratings, against=other))
        with pytest.raises(ConfigError, match="the same run"):
            analyse(home, run, against=run)
    assert list(found["analyses"]) == [
        "reliability_gap",
        "failures_by_domain",
        "consistency",
        "agreement",
        "length_bias",
        "two_judges",
        "coverage",
    ]
    assert all(one["says"].endswith(".") for one in found["analyses"].values())
    assert found["analyses"]["agreement"]["gated"]["spearman"]["value"] > 0.7
    assert found["analyses"]["two_judges"]["decisions"]["n"] > 100
    assert found["analyses"]["coverage"]["shares"].keys() == {"20", "40", "60", "80"}


class Answering:
    """The simulated models, with a judge whose assessments are spoilt in a named way; `problems` are what was sent back."""

    def __init__(self, how: Callable[[int], str]) -> None:
        self.transport = CountingTransport(SimTransport(), change=self._spoil)
        self._how = how
        self._asked: dict[str, int] = {}
        self.problems: list[str] = []

    def _spoil(self, call: ModelCall, reply: ModelReply) -> ModelReply:
        request = recognise(call.messages) if call.kind == "chat" else None
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
