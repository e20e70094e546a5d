"""What people correct by hand in a finished evaluation: what counts from then on, everywhere alike, and what never changes."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dokimasia.errors import DecidedMeanwhile, InputError, NotFound
from dokimasia.methods.evaluation.correcting import CorrectionTarget, correct_now
from dokimasia.methods.evaluation.forking import points_digest, resume_points
from dokimasia.methods.modes.request import answers_of
from dokimasia.methods.tree import measured_of
from dokimasia.people.annotation.comparing import judged_of
from dokimasia.people.annotation.subjects import answers_of_run
from dokimasia.report.document import render_document
from dokimasia.report.fields import as_json
from dokimasia.report.page import render_page
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.storage.connection import connect_writer
from dokimasia.storage.excerpts import rows_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import correction_events
from dokimasia.storage.reading.browsing import SampleQuery as Browsed
from dokimasia.storage.reading.browsing import find_samples
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run
from dokimasia.storage.verification import verify_home
from tests.report import conftest as reports
from tests.report.conftest import Finished

small = reports.small
WEAK, STRONG = "sim/weak", "sim/strong"


@pytest.fixture
def done(small: Finished, tmp_path: Path) -> Finished:
    """A copy of a finished evaluation, to be corrected."""
    shutil.copytree(small.home, tmp_path / "home")
    return small._replace(home=tmp_path / "home")


def said(done: Finished, who: str = "anna", **what: Any) -> dict[str, Any]:
    """Correct something and return what is kept."""
    with Home.open(done.home, write=True) as home:
        wanted = CorrectionTarget.model_validate({"reason": "I looked", **what})
        return correct_now(home, get_run(home, done.run), wanted, person=who).shown()


def figures(done: Finished) -> dict[str, Any]:
    """The run's figures."""
    with Home.open(done.home, write=False) as home:
        run = get_run(home, done.run)
        return method_of(run).json_figures(home, run)


def exported(done: Finished) -> list[dict[str, Any]]:
    """The run's rows as an export has them."""
    with Home.open(done.home, write=False) as home:
        return [dict(row) for row in asyncio.run(export_rows(home, get_run(home, done.run))).rows]


def wrong_of(done: Finished, model: str = WEAK) -> list[str]:
    """Samples of which the judge says that a model's answer is wrong."""
    return [row["id"] for row in exported(done) if row["model"] == model and row["verdict"] == "wrong"]


def test_a_person_has_the_last_word_and_the_judge_keeps_its_own(done: Finished) -> None:
    """Two corrected verdicts raise the share of right answers by two; the judge's own figure and the number stand beside it."""
    before, (first, second, *_) = figures(done), wrong_of(done)
    said(done, sample=first, model=WEAK, answer="right")
    kept = said(done, "ben", sample=second, model=WEAK, answer="right", criteria={1: 5, 2: 5})
    after = figures(done)
    assert kept["changes"][0] == {"what": "answer", "from": "wrong", "to": "right"}
    assert "corrections" not in before
    k = before["models"][WEAK]["strict_accuracy"]["k"]
    assert after["models"][WEAK]["strict_accuracy"]["k"] == k + 2
    assert after["models"][WEAK]["score"]["mean"] > before["models"][WEAK]["score"]["mean"]
    assert after["models"][STRONG] == before["models"][STRONG]
    told = after["corrections"]
    assert (told["answers"], told["of"], told["by"]) == (2, 42, {"anna": 1, "ben": 1})
    for name, one in told["as_judged"].items():
        assert one == {part: before["models"][name][part] for part in ("n", "n_scored", "strict_accuracy", "score")}
    method_of(get_run(Home.open(done.home, write=False), done.run)).shape().model_validate(after)


def test_the_stored_verdicts_never_change(done: Finished) -> None:
    """Results and ledger hold the same bytes after a correction, all that is checked is as it was written, and undo is whole."""

    def stored() -> list[Any]:
        with Home.open(done.home, write=False) as home:
            return home.all("SELECT * FROM results ORDER BY item") + home.all("SELECT * FROM calls ORDER BY key")

    before, rows, shown = stored(), exported(done), figures(done)
    sample = wrong_of(done)[0]
    said(done, sample=sample, model=WEAK, answer="right", criteria={1: 0})
    said(done, sample=sample, leave_out=True)
    assert stored() == before
    with Home.open(done.home, write=False) as home:
        assert not [one for part in verify_home(home) for one in part.findings]
    assert said(done, sample=sample, model=WEAK, undo=True)["undo"]
    assert said(done, sample=sample, leave_out=True, undo=True)["undo"]
    assert json.dumps(figures(done)) == json.dumps(shown)
    assert exported(done) == rows
    with Home.open(done.home, write=False) as home:
        log = correction_events(home, done.run)
    assert [(one.item != "", one.undo, one.number) for one in log] == [
        (True, False, 1),
        (False, False, 1),
        (True, True, 2),
        (False, True, 2),
    ]


def test_everything_reads_the_same_corrected_values(done: Finished) -> None:
    """Rows, samples, export, the list's filters, trees and comparisons all say what the person said."""
    sample = wrong_of(done)[0]
    said(done, sample=sample, model=WEAK, answer="right", criteria={1: 5, 2: 5, 3: 5, 4: 5})
    with Home.open(done.home, write=False) as home:
        run = get_run(home, done.run)
        row = next(one for one in results(home, run.id) if (one.sample_id, one.model) == (sample, WEAK))
        assert (row.verdict, row.score) == ("right", 5.0)
        assert row in rows_of(home, run.id, [sample])[sample]
        judged = next(
            one for one in results(home, run.id, as_judged=True) if (one.sample_id, one.model) == (sample, WEAK)
        )
        assert judged.verdict == "wrong"
        view = asyncio.run(sample_of_run(home, run, sample))
        answer = next(one for one in view["answers"] if one["model"] == WEAK)
        assert (answer["verdict"], answer["final"]["rule"]) == ("right", "person")
        assert answer["judgement"]["scores"] == [5, 5, 5, 5]
        assert answer["corrected"]["as_judged"]["verdict"] == "wrong"
        found = find_samples(home, run.id, "score", Browsed(model=WEAK, low=4.99, verdict="right"), limit=99)
        assert sample in [id for _, id in found.samples]
        corrected, ours = measured_of(home, run), measured_of(home, run, as_judged=True)
        assert sum(corrected.scores[WEAK].values()) > sum(ours.scores[WEAK].values())
        compared = as_json(compare_runs(home, run, run, models=(WEAK, STRONG)))
        assert compared["corrected"]["first"] == {"answers": 1, "left_out": 0}
        assert compared["corrected"]["second"] == {"answers": 0, "left_out": 0}
    [cells] = [one for one in exported(done) if (one["id"], one["model"]) == (sample, WEAK)]
    assert (cells["verdict"], cells["rule"], cells["criteria_scores"]) == ("right", "person", [5, 5, 5, 5])
    assert (cells["judged_verdict"], cells["judged_score"]) == ("wrong", judged.score)
    assert (cells["corrected_by"], cells["correction_reason"], cells["left_out"]) == ("anna", "I looked", False)


def test_a_sample_that_is_left_out_is_in_no_figure(done: Finished) -> None:
    """It leaves n of every model with its reason told, and its rows stay in the export, marked."""
    sample = exported(done)[0]["id"]
    before = figures(done)
    said(done, sample=sample, leave_out=True, reason="the reference is wrong")
    after = figures(done)
    for name, model in after["models"].items():
        assert model["n"] == before["models"][name]["n"] - 1
    assert after["corrections"]["left_out"] == [{"sample": sample, "who": "anna", "reason": "the reference is wrong"}]
    marked = [one for one in exported(done) if one["left_out"]]
    assert {one["id"] for one in marked} == {sample}
    assert {one["correction_reason"] for one in marked} == {"the reference is wrong"}
    with Home.open(done.home, write=False) as home:
        compared = as_json(compare_runs(home, get_run(home, done.run), get_run(home, done.run), models=(WEAK, STRONG)))
    assert compared["pairs"][0]["n_shared"] == 20


def test_the_report_says_what_was_corrected_and_what_that_is_not(done: Finished) -> None:
    """Page and Markdown name the number, the person and the judge's own figure, and that no error rate follows from it."""
    said(done, sample=wrong_of(done)[0], model=WEAK, answer="right", reason="<b>bold</b> | pipe")
    data = done.data()
    for text in (render_page(data), render_document(data)):
        assert "People corrected 1 of 42 answers: anna (1)" in text
        assert "chosen by people and not drawn at random" in text
        assert "as judged" in text
    assert "<b>bold</b> | pipe" not in render_page(data)


def test_an_answer_that_is_judged_anew_loses_its_correction(done: Finished) -> None:
    """A correction holds for the judgement that the person saw: after another one it is shown, and not counted."""
    sample = wrong_of(done)[0]
    before = figures(done)
    said(done, sample=sample, model=WEAK, answer="right")
    connection = connect_writer(done.home / "dokimasia.db")
    other = connection.execute("SELECT final_id FROM results WHERE verdict = 'right' AND model = ?", (WEAK,)).fetchone()
    connection.execute(
        "UPDATE results SET final_id = ? WHERE kind = 'score' AND sample_id = ? AND model = ?", (*other, sample, WEAK)
    )
    connection.close()
    assert "corrections" not in figures(done)
    assert figures(done)["models"][WEAK]["strict_accuracy"] == before["models"][WEAK]["strict_accuracy"]
    with Home.open(done.home, write=False) as home:
        view = asyncio.run(sample_of_run(home, get_run(home, done.run), sample))
    [answer] = [one for one in view["answers"] if one["model"] == WEAK]
    assert answer["corrected"]["stands"] is False


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ({"model": WEAK, "answer": "right", "reason": " "}, "a reason is needed"),
        ({"model": WEAK}, "you have not changed anything"),
        ({"answer": "right"}, "name the model"),
        ({"leave_out": True, "model": WEAK}, "leave_out is of the whole sample"),
        ({"undo": True, "model": WEAK, "answer": "right"}, "undo takes back all"),
        ({"model": WEAK, "criteria": {1: 6}}, "less than or equal to 5"),
        ({"model": WEAK, "criteria": {99: 5}}, "there are criteria 1 to"),
        ({"model": WEAK, "answer": "wrong"}, "changes nothing"),
        ({"model": WEAK, "undo": True}, "nothing to take back"),
        ({"model": "sim/none", "answer": "right"}, "no answer of sim/none"),
        ({"model": WEAK, "answer": "right", "sample": "nobody"}, "has no sample 'nobody'"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(done: Finished, what: dict[str, Any], fault: str) -> None:
    """Each says in a sentence what is wrong, and nothing is kept."""
    with pytest.raises((ValueError, InputError, NotFound), match=fault):
        said(done, **{"sample": wrong_of(done)[0], **what})
    with Home.open(done.home, write=False) as home:
        assert correction_events(home, done.run) == []


def test_who_did_not_see_a_correction_is_told_of_it(done: Finished) -> None:
    """Of two people who correct the same answer the second is told, and nothing is written over; back to the judge is an undo."""
    sample = wrong_of(done)[0]
    said(done, sample=sample, model=WEAK, answer="right", seen=0)
    with pytest.raises(DecidedMeanwhile, match="meanwhile"):
        said(done, "ben", sample=sample, model=WEAK, criteria={1: 2}, seen=0)
    back = said(done, "ben", sample=sample, model=WEAK, answer="wrong", seen=1)
    assert back["undo"]
    assert "corrections" not in figures(done)


def test_what_is_made_from_a_run_begins_with_the_judges_own_verdicts(done: Finished) -> None:
    """A fork takes over the same after a correction as before, and people rate blind what the judge judged, all of it."""

    def begins() -> list[Any]:
        with Home.open(done.home, write=False) as home:
            run = get_run(home, done.run)
            taken = points_digest(resume_points(home, run.id, {"score"}))
            return [taken, answers_of_run(home, run), judged_of(home, run, (1, 5)), answers_of(home, run)]

    before, (first, second, *_) = begins(), wrong_of(done)
    said(done, sample=first, model=WEAK, answer="right", criteria={1: 5, 2: 5, 3: 5})
    said(done, sample=second, leave_out=True)
    assert begins() == before
