"""The report on a refinement: the paper's table, gains, leaks, and failed answers before and after, in page and document."""

import asyncio
import json
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from dokimasia.cli.main import run
from dokimasia.methods.refinement import RefinementRequest, refine
from dokimasia.methods.refinement.report import samples_section
from dokimasia.methods.refinement.report import section as refinement_section
from dokimasia.report.blocks import plain
from dokimasia.report.data import ReportData
from dokimasia.report.document import render_document
from dokimasia.report.page import render_page
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from tests.report.chromium import SCHEMES, opened
from tests.report.conftest import Finished, run_on
from tests.report.test_in_the_browser import check_figures, shown, written


def refined(source: Finished, **request: Any) -> Finished:
    settings = load_settings(home=source.home, cwd=source.home.parent, env={})
    asked = RefinementRequest.model_validate({"run": source.run, **request})
    return Finished(source.home, asyncio.run(refine(asked, settings=settings)).run)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """An evaluation of two models on 14 questions."""
    folder = tmp_path_factory.mktemp("refined")
    write_world(folder / "world.jsonl", 14, 3)
    return run_on(folder / "world.jsonl", folder / "home", models=("sim/weak", "sim/tutor-leaky"), seed=1)


@pytest.fixture(scope="module")
def mended(source: Finished) -> Finished:
    """Its failures in all arms."""
    return refined(source, models=("sim/weak",))


@pytest.fixture(scope="module")
def data(mended: Finished) -> ReportData:
    """What a report says of it."""
    return mended.data(samples=8)


def test_the_same_refinement_gives_the_same_bytes(mended: Finished, data: ReportData) -> None:
    """Nothing in page or document depends on when it is written."""
    again = mended.data(samples=8)
    assert render_page(again) == render_page(data)
    assert render_document(again) == render_document(data)


def test_the_table_gains_and_leaks_are_in_it(data: ReportData) -> None:
    """Accuracies and their gains come first, then atoms; the paper's table and what was found to leak come after."""
    document = render_document(data)
    first = document[: document.index("Accuracy is the share")]
    first = first[first.index("| model | strategy |") :]
    scores = ("score on addressed, before", "score on all, after")
    titles = ("right before", "right after", "gain over retry", "gain over again", *scores)
    places = [first.index(title) for title in titles]
    assert places == sorted(places)
    for arm in ("again", "retry", "self", "peer"):
        assert f"**sim/weak** | {arm} |" in first
    for arm in ("original", "again", "retry", "self", "peer"):
        assert f"| {arm} | accuracy |" in document
        assert f"| {arm} | criteria |" in document
    for gain in ("self over retry", "peer over retry", "self over again", "peer over again", "retry over again"):
        assert f"| {gain} |" in document
    by_column = document[document.index("| gain | measure |") :]
    for line in (
        "self over again | accuracy",
        "peer over again | criterion score",
        "self over original | criterion score",
    ):
        assert f"| {line} |" in by_column
    found = data.summary["leaks"]["hints"]
    assert found["k"] > 0
    assert f"Hints found to leak before they were sent: {found['k']} of {found['n']}" in document
    assert "the judge turned" in document


def test_before_and_after_stand_side_by_side(data: ReportData) -> None:
    """A failed answer has its failed atoms marked, what was shown or withheld of them, the hints, and every arm's answer."""
    assert samples_section(data) is not None
    assert data.selection.failed_shown == len(data.samples) > 4
    page = render_page(data)
    assert page.count('<figure class="shown"><img src="data:image/webp;base64,') == len(data.samples)
    assert "✗ 1" in page
    for word in (
        "withheld",
        "and a hint of sim/tutor-leaky",
        "found to leak before it was sent",
        "without a hint (leak)",
    ):
        assert word in page, word
    rounds = [one for view in data.samples for one in view["rounds"]]
    assert all(one["selected"] for one in rounds)
    assert page.count('<div class="answer"><p>') == sum(one["last"] for one in rounds)
    assert f"{len(data.samples)} of the {data.selection.failed} samples" in render_document(data)


def test_a_threshold_is_told_apart(source: Finished) -> None:
    """Answers that were taken up for their score stand apart by what their final answer was before."""
    document = render_document(refined(source, models=("sim/weak",), strategy="retry", threshold=4.5).data())
    assert "with a score below 4.5, right or wrong" in document
    assert re.search(r"[1-9]\d* of these (was|were) right before; the tables count the others", document)
    assert "| right | original |" in document
    assert "| wrong | retry |" in document


def test_what_no_judge_looked_for_is_said(source: Finished) -> None:
    """Without the judge, page and document name the forms of leaks that were not looked for; with it, nothing is said."""
    unjudged = refined(source, models=("sim/weak",), strategy="self", leak_judge=False).data()
    assert unjudged.summary["leaks"]["judge"] is False
    for text in (render_page(unjudged), render_document(unjudged)):
        assert "No judge looked for leaks (--no-leak-judge): paraphrases, " in text
    assert "No judge looked" not in render_document(refined(source, models=("sim/weak",), strategy="self").data())


def test_nothing_failed_is_said(source: Finished) -> None:
    """A refinement with nothing to do has a report that says so, and no empty table."""
    nothing = refined(source, models=("sim/tutor-leaky",), strategy="again", threshold=1.01).data()
    section = refinement_section(nothing)
    assert section is not None
    assert not section.blocks
    assert "there was nothing to refine" in render_page(nothing)
    assert samples_section(nothing) is None


def test_why_nothing_was_refined_and_what_would_have_been(source: Finished) -> None:
    """It says how many answers were right, how many failed without a point and why, and the strategy that needs none."""
    nothing = refined(source, models=("sim/tutor-leaky",), strategy="self").data()
    answers = next(iter(nothing.summary["models"].values()))["answers"]
    lead = _lead_of(nothing)
    assert (
        f"No answer failed: there was nothing to refine (of {answers} answers {answers} right by the final answer)"
        in lead
    )
    assert "--threshold 4" in lead
    (model,) = nothing.summary["models"].values()
    model["answered"] = {"right": answers - 1, "wrong": 1}
    model["left_out"] = {"answers": 1, "atoms": {"leak": 2}}
    lead = _lead_of(replace(nothing, figures=None))
    assert (
        "Nothing to refine: in the wrong answer the failed criteria give the answer away or repeat the question (2 leak)"
        in lead
    )
    assert f"(of {answers} answers {answers - 1} right, 1 wrong by the final answer)" in lead
    assert "--strategy retry and --strategy again, which name no criterion, take up such answers" in lead
    model["left_out"] = {"answers": 240, "atoms": {"final answer": 720}}
    assert (
        "in all 240 wrong answers the failed criteria are the final answer itself, which feedback must not reveal"
        in _lead_of(replace(nothing, figures=None))
    )


def test_the_lead_says_how_many_wrong_answers_could_not_be_taken_up(mended: Finished) -> None:
    """The table is of those that were taken up: the first sentence counts the others, too, and says why they are not."""
    data = mended.data()
    assert data.drawing.conclusion is not None
    (model,) = data.summary["models"].values()
    taken_up, left_out = data.summary["failed"], 3
    model["left_out"]["answers"] = left_out
    lead = plain(data.drawing.conclusion(replace(data, figures=None))[0])
    source = data.summary["source"]
    assert lead.startswith(f"Taken up: {taken_up} of {taken_up + left_out} answers of run {source} that are wrong.")
    assert f"The remaining {left_out} answers failed only on criteria that must not be revealed" in lead
    model["left_out"]["answers"] = 1
    lead = plain(data.drawing.conclusion(replace(data, figures=None))[0])
    assert "The remaining answer failed only on criteria that must not be revealed" in lead
    model["left_out"]["answers"] = 0
    lead = plain(data.drawing.conclusion(replace(data, figures=None))[0])
    assert lead.endswith(f"Taken up: {taken_up} answers of run {source} that are wrong.")


def test_the_lead_counts_answering_again_among_what_corrected_most(mended: Finished) -> None:
    """A feedback corrects most only where it corrects more than answering again does; else the lead says that none did."""
    data = mended.data()
    (model,) = data.summary["models"].values()
    n = model["failed"]
    for arm, share in {"again": 0.5, "retry": 0.25, "self": 0.5, "peer": 0.25}.items():
        model["arms"][arm]["accuracy"]["share"] = share
    lead = _whole_lead_of(replace(data, figures=None))
    assert "sim/weak: no feedback did better than simply answering again, which corrected 50.0 %" in lead
    assert lead.endswith(f" of {n} answers.")
    assert "most" not in lead
    model["arms"]["peer"]["accuracy"]["share"] = 0.75
    assert "sim/weak: peer corrects most, 75.0 %" in _whole_lead_of(replace(data, figures=None))


def test_the_lead_names_the_models_with_the_largest_clear_gains(mended: Finished) -> None:
    """Of more models than it names, those with the largest clear gains come first, in whatever order the run has them."""
    data = mended.data()
    models = data.summary["models"]
    (model,) = models.values()
    for arm, share in {"again": 0.1, "retry": 0.2, "self": 0.2, "peer": 0.9}.items():
        model["arms"][arm]["accuracy"]["share"] = share
    means = {"steady": 0.1, "weak": 0.129, "unclear": 0.5, "hasty": 0.333}
    models.clear()
    for name, mean in means.items():
        copied = models[name] = deepcopy(model)
        for comparison in copied["gains"].values():
            comparison["accuracy"]["adjusted"] = 0.5
        gain = copied["gains"]["peer over again"]["accuracy"]
        gain["difference"] |= {
            "mean": mean,
            "low": -0.1 if name == "unclear" else 0.05,
            "high": 0.6,
            "no_interval": None,
        }
        gain["adjusted"] = 0.004
    lead = _whole_lead_of(replace(data, figures=None))
    assert lead.index("hasty: peer corrects most") < lead.index("weak: peer corrects most") < lead.index("steady: ")
    assert "unclear" not in lead
    assert lead.endswith("1 more model is in the table.")
    self_gain = models["hasty"]["gains"]["self over again"]["accuracy"]
    self_gain["difference"] |= {"mean": 0.4, "low": 0.1, "high": 0.6, "no_interval": None}
    self_gain["adjusted"] = 0.004
    lead = _whole_lead_of(replace(data, figures=None))
    assert "Its largest clear gain over answering again is that of self: +40.0 [+10.0, +60.0] percentage points" in lead


@pytest.mark.parametrize(
    ("low", "adjusted", "says"),
    [
        (0.03, 0.078, "points. The interval and the p-value disagree (adjusted p = 0.078): this is inconclusive."),
        (-0.03, 0.004, "points. The interval and the p-value disagree (adjusted p = 0.004): this is inconclusive."),
        (-0.03, 0.5, "(adjusted p = 0.500), which may be chance."),
        (0.03, 0.004, "(adjusted p = 0.004)."),
    ],
)
def test_the_lead_says_where_interval_and_adjusted_p_disagree(
    mended: Finished, low: float, adjusted: float, says: str
) -> None:
    """A gain is called chance only where its interval agrees."""
    data = mended.data()
    (model,) = data.summary["models"].values()
    for arm, share in {"again": 0.1, "retry": 0.2, "self": 0.9, "peer": 0.2}.items():
        model["arms"][arm]["accuracy"]["share"] = share
    gain = model["gains"]["self over again"]["accuracy"]
    gain["difference"] |= {"mean": 0.38, "low": low, "high": 0.66, "no_interval": None}
    gain["adjusted"] = adjusted
    lead = _whole_lead_of(replace(data, figures=None))
    assert lead.endswith(says)
    assert ("chance" in lead) == ("chance" in says)


def _whole_lead_of(data: ReportData) -> str:
    assert data.drawing.conclusion is not None
    return " ".join(map(plain, data.drawing.conclusion(data)))


def _lead_of(data: ReportData) -> str:
    assert data.drawing.conclusion is not None
    (lead,) = data.drawing.conclusion(data)
    return plain(lead)


def test_another_kind_of_run_has_no_such_section(source: Finished) -> None:
    """An evaluation's report is as it was."""
    assert "Corrections" not in render_page(source.data(samples=0))


def test_the_verb_writes_it(mended: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`dokimasia report` takes a refinement as it takes any run."""
    path = tmp_path / "out.html"
    assert run(["report", mended.run, "--home", str(mended.home), "-o", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == path.stat().st_size


@pytest.mark.parametrize("scheme", SCHEMES)
def test_in_the_browser(
    mended: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: Literal["light", "dark"]
) -> None:
    """The page is quiet and alone, its figures are those of `show --json`, and it does not scroll sideways."""
    path = written(mended, tmp_path / "page.html", samples=3)
    with opened(path, scheme=scheme) as seen:
        seen.page.wait_for_selector(".plot .main-svg")
        assert check_figures(seen.page, shown(mended, capsys)) > 100
        seen.page.eval_on_selector_all("#before-and-after details", "all => all.forEach(one => { one.open = true })")
        assert seen.page.locator(".shown img").first.evaluate("one => one.naturalWidth") > 0
        width = seen.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width[0] == width[1]
        seen.page.set_viewport_size({"width": 1200, "height": 800})
        wide = "one => [one.scrollWidth, one.clientWidth]"
        table = seen.page.locator("#refinement .scroll").first.evaluate(wide)
        assert table[0] == table[1], "nothing of the first table is cut off at 1,200 pixels"
        assert seen.errors == []
        assert seen.requests == []
