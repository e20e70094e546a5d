"""From detections to the figures of a probe and to what is drawn of them: rates, groups, blind spots, ways of asking."""

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from rich.console import Console

from dokimasia.domain.blindspots import PUBLISHED, Detection
from dokimasia.methods.probe.figures import ProbedTask, tasks_of
from dokimasia.methods.probe.report import (
    DRAWING,
    MeasuredJudge,
    budgets,
    comparisons,
    conclusion,
    dimensions,
    failures,
    groups,
    headline,
    justifications,
    places,
    references,
    tools,
)
from dokimasia.report.blocks import Block, Chart, Fold, Only, Paragraph, Section, Table, plain
from dokimasia.report.data import ReportData
from dokimasia.report.document import render_document
from dokimasia.report.fields import as_json
from dokimasia.report.page import render_page
from dokimasia.report.terminal import draw_run
from tests.drawn import FACTS
from tests.methods.detections import drawn

TASK = "image-to-text"
SOME = ("numerical_errors", "phantom_details", "tone_mismatch", "logical_inconsistency", "causal_misattribution")


def two_judges() -> list[Detection]:
    """A judge that is blind to wrong numbers and one that misses more throughout and favours the first place."""
    asked: dict[str, Any] = {"dimensions": SOME, "evaluators": PUBLISHED, "images": 14, "reads": True}
    return [
        *drawn("j", missed={"numerical_errors": 0.95} | dict.fromkeys(SOME[1:], 0.15), seed=1, **asked),
        *drawn("k", missed=0.6, first_place=0.4, seed=2, **asked),
    ]


def several_ways() -> list[Detection]:
    """A judge under three efforts, with tools, and by a new reference."""
    asked: dict[str, Any] = {"dimensions": SOME, "images": 12, "model": "j"}
    found = [
        one
        for at, (effort, missed) in enumerate((("low", 0.7), ("medium", 0.4), ("high", 0.35)))
        for one in drawn(f"j@{effort}", missed=missed, evaluators=("single-axes",), budget=effort, seed=at, **asked)
    ]
    found += drawn("j@high+tools", missed=0.05, evaluators=("single-axes",), budget="high", tools=True, seed=3, **asked)
    found += drawn("j@high", missed=0.2, evaluators=("reference",), budget="high", seed=4, **asked)
    new: dict[str, Any] = {"budget": "high", "new_reference": True, "seed": 5}
    return found + list(drawn("j@high+new-reference", missed=0.6, evaluators=("reference",), **new, **asked))


def figures_of(detections: Iterable[Detection], *, seed: int) -> dict[str, Any]:
    """The figures of all tasks, as JSON."""
    return {"tasks": {task: as_json(own) for task, own in tasks_of(detections, seed=seed).items()}}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """The figures of two judges under all published evaluators."""
    return figures_of(two_judges(), seed=0)


@pytest.fixture(scope="module")
def ways() -> dict[str, Any]:
    """The figures of one judge that is asked in several ways."""
    return figures_of(several_ways(), seed=0)


def report(figures: dict[str, Any]) -> ReportData:
    """What the sections are made from."""
    summary = {
        "run": "r1",
        "status": "done",
        "seed": 0,
        "open_items": 0,
        "retests": 1,
        "direction": "second minus first",
        "samples": 14,
        "calls": 0,
        "cost": 0,
        **dict.fromkeys(("skipped", "simulated", "judges", "evaluators", "budgets", "tools"), ()),
        "reader": None,
        "writer": None,
        "failures": {},
        "probes": {"errors": 0, "neutral": 0, "checked": 0},
    }
    return ReportData(DRAWING, FACTS, {**summary, **figures})


def rows_of(section: Section | None, number: int = 0) -> list[list[str]]:
    """The rows of a section's nth table, as texts."""
    assert section is not None
    return [[plain(cell).replace("\xa0", " ") for cell in row] for row in tables(section.blocks)[number].rows]


def tables(blocks: Sequence[Block]) -> list[Table]:
    """All tables, those in folds and for one place among them."""
    return [
        table
        for block in blocks
        for table in (
            [block] if isinstance(block, Table) else tables(block.blocks) if isinstance(block, Fold | Only) else []
        )
    ]


def said(section: Section | None) -> str:
    """The paragraphs of a section."""
    assert section is not None
    return " ".join(plain(block.text) for block in section.blocks if isinstance(block, Paragraph))


def test_figures_have_their_published_shape_and_repeat(found: dict[str, Any], ways: dict[str, Any]) -> None:
    """Both fit the schema, and the same detections and seed give the same figures."""
    for one in (found, ways):
        ProbedTask.model_validate_json(json.dumps(one["tasks"][TASK]))
    assert figures_of(several_ways(), seed=0) == ways
    assert figures_of([], seed=0) == {"tasks": {}}


def test_the_main_table_has_the_published_form(found: dict[str, Any]) -> None:
    """Paradigm and strategy down, of each judge undetected and score-invariant; which way is better is said at the table."""
    section = failures(report(found))
    rows = rows_of(section)
    assert [row[:2] for row in rows] == [
        ["single", "V"],
        ["single", "R"],
        ["single", "Ax"],
        ["single", "Ax+R"],
        ["pairwise", "V"],
        ["pairwise", "R"],
        ["pairwise", "Ax"],
        ["pairwise", "Ax+R"],
        ["reference", "–"],
    ]
    titles = [column.title for column in tables(section.blocks)[0].columns]
    assert titles[2:] == ["j undetected", "j score-invariant", "k undetected", "k score-invariant"]
    one = found["tasks"][TASK]["judges"]["j"]["evaluators"]["single-vanilla"]["undetected"]
    assert rows[0][2] == f"{100 * one['share']:.1f} [{100 * one['low']:.0f}, {100 * one['high']:.0f}]"
    assert "Score-invariant (higher is better)" in said(section)
    assert "Undetected (lower is better)" in said(section)
    assert "Failed judgements, which are no numbers: j " in said(section)


def test_the_headline_names_ties_and_covers_every_way_of_asking(ways: dict[str, Any]) -> None:
    """All efforts and tools enter, ties are named, harmless changes stand beside, and the table says whom it leaves out."""
    data = report(ways)
    note = "j@low, j@medium, j@high+tools stand under efforts and tools"
    lead = " ".join(map(plain, conclusion(data)))
    assert note in said(failures(data))
    assert "most by j@low under single Ax" in lead
    assert "fewest errors are missed by j@high+tools under single Ax (score-invariant" in lead
    harsh, kind = (0.0, 0.0), (0.4, 0.9)

    def of(**judges: tuple[float, float]) -> str:
        return headline(TASK, [MeasuredJudge(name, "single Ax", *shares) for name, shares in judges.items()])

    assert of(a=kind) == f"{TASK}: a under single Ax (score-invariant 90.0 %) misses 40.0 % of the errors."
    text = of(a=harsh, b=kind, c=harsh)
    assert "by a under single Ax (score-invariant 0.0 %) and c under single Ax (score-invariant 0.0 %), 0.0 %;" in text
    assert text.endswith("A judge that also penalises harmless changes catches errors trivially.")
    assert of(a=kind, b=kind).endswith("miss 40.0 % of the errors each.")


def test_what_is_not_measured_for_want_of_harmless_changes_is_said(found: dict[str, Any]) -> None:
    """Without harmless changes a note says why nothing stands under score-invariant; with them there is none."""
    errors = [one for one in drawn("j", dimensions=SOME, images=3) if one.case == "error"]
    assert "score-invariant is not measured" in said(failures(report(figures_of(errors, seed=0))))
    assert "score-invariant is not measured" not in said(failures(report(found)))


def test_three_rules_stand_side_by_side() -> None:
    """Any relevant axis, the majority and `overall` stand beside each other, each by its name, and none as published."""
    tied = [
        one._replace(majority=1.0, overall=0.0) if one.undetected is not None else one
        for one in drawn(
            "j",
            missed={"numerical_errors": 0.98} | dict.fromkeys(SOME[1:], 0.1),
            dimensions=SOME,
            evaluators=("pairwise-axes", "pairwise-vanilla", "single-axes"),
            images=14,
        )
    ]
    figures = figures_of(tied, seed=0)
    judged = figures["tasks"][TASK]["judges"]["j"]["evaluators"]
    assert judged["pairwise-axes"]["overall"]["share"] == 0
    assert judged["pairwise-axes"]["overall"]["high"] > 0
    assert judged["pairwise-vanilla"]["overall"] is None
    section = failures(report(figures))
    assert [row[1] for row in rows_of(section, -1)] == ["single Ax", "pairwise Ax"]
    assert rows_of(section, -1)[1][4].startswith("100.0 [")
    assert rows_of(section, -1)[1][5].startswith("0.0 [0, ")
    assert "By any relevant axis" in said(section)
    assert "an honest tie counts against the judge" in said(section)
    assert "As published" not in said(section)
    drawn_spots = dimensions(report(figures))
    spots = {row[1]: row for row in rows_of(drawn_spots)}
    assert spots["pairwise Ax"][4].startswith("100.0 [")
    assert spots["pairwise Ax"][5].startswith("0.0 [0, ")
    assert spots["pairwise V"][4:6] == ["–", "–"]
    plain_ones = report(figures_of(drawn("j", dimensions=SOME, images=3), seed=0))
    assert "overall" not in said(failures(plain_ones)) + said(dimensions(plain_ones))


def test_failures_open_the_bounds(found: dict[str, Any]) -> None:
    """Errors and those judged differ by the failures, and the share lies within its bounds."""
    for judge in found["tasks"][TASK]["judges"].values():
        for one in judge["evaluators"].values():
            measured, failed = one["undetected"], sum(one["failures"].values())
            assert measured["n"] == 14 * len(SOME)
            assert measured["n"] - measured["n_scored"] <= failed
            assert measured["bounds"]["low"] <= measured["share"] <= measured["bounds"]["high"]


def test_groups_are_averaged_over_judges_and_strategies(found: dict[str, Any]) -> None:
    """A cell is the mean over items, each the mean of what all judges and strategies of the paradigm made of it."""
    cells = found["tasks"][TASK]["groups"]
    assert set(cells) == {"VR", "VG", "LG", "SI"}
    assert all(list(own) == ["single", "pairwise", "reference"] for own in cells.values())
    items: dict[str, list[float]] = {}
    for one in two_judges():
        if one.group == "LG" and one.evaluator.startswith("single") and one.undetected is not None:
            items.setdefault(one.item, []).append(one.undetected)
    mean = sum(sum(own) / len(own) for own in items.values()) / len(items)
    assert cells["LG"]["single"]["mean"] == pytest.approx(mean, abs=1e-6)
    section = groups(report(found))
    assert rows_of(section)[0][0] == "Visual Reasoning (VR)"
    assert section is not None
    assert any(isinstance(block, Chart) for block in section.blocks)


def test_blind_spots_are_listed_and_marked(found: dict[str, Any]) -> None:
    """The planted one is named under most evaluators, nothing is of the judge that misses all alike, and the rule is stated."""
    section = dimensions(report(found))
    spots = rows_of(section)
    assert {(row[0], row[2]) for row in spots} == {("j", "Numerical Errors")}
    assert len(spots) >= 7
    marked = [row for row in rows_of(section, 1) if any(cell.endswith("*") for cell in row)]
    assert [row[0] for row in marked] == ["Numerical Errors"]
    assert "at most 5 % of cases" in said(section)
    none = dimensions(report(figures_of(drawn("j", missed=0.3, dimensions=SOME, images=8), seed=0)))
    assert "No dimension is told to be a blind spot of any judge by the rule below, from " in said(none)
    assert "judged errors a dimension, too few to tell more" in said(none)
    assert [row[2] for row in rows_of(none)] == ["8"] * len(SOME)


def test_images_that_say_nothing_of_a_blind_spot_are_counted() -> None:
    """Figures and page say on how many images a dimension is tested, how many hold it alone, and what could not be tested."""
    shared = [*drawn("j", missed=0.3, dimensions=SOME, images=8, evaluators=("single-axes",))]
    alone = [
        one._replace(cluster=f"apart {one.cluster}", item=f"apart {one.item}")
        for one in shared
        if one.dimension == SOME[0]
    ]
    found = figures_of([*shared, *alone], seed=0)
    kinds = found["tasks"]["image-to-text"]["judges"]["j"]["evaluators"]["single-axes"]["dimensions"]
    assert (kinds[SOME[0]]["spot"]["images"], kinds[SOME[0]]["spot"]["alone"]) == (8, 8)
    assert kinds[SOME[1]]["spot"]["alone"] == 0
    text = said(dimensions(report(found)))
    assert "tested on the images that hold errors of other dimensions, too: 7 to 8 of them a dimension" in text
    assert "Up to 8 more hold errors of it alone and say nothing of it" in text
    apart = said(dimensions(report(figures_of(alone, seed=0))))
    assert "Not tested under some evaluator, since no image holds errors of it and of another dimension" in apart


def test_perturbations_that_do_not_enter_are_no_skipped_data(found: dict[str, Any]) -> None:
    """What labels kept out is listed as such, without a word of unusable data or of an instruction."""
    told = report({**found, "skipped": ["9 perturbations do not enter: people found them incorrect"]})
    sections = [section.title for one in DRAWING.sections if (section := one(told)) is not None]
    assert "Perturbations that do not enter" in sections
    assert "Skipped data" not in sections


def test_justifications_stand_beside_the_readers_false_alarms(found: dict[str, Any]) -> None:
    """A row a judge and evaluator; without a reader there is no section."""
    rows = rows_of(justifications(report(found)))
    assert len(rows) == 2 * len(PUBLISHED)
    one = found["tasks"][TASK]["judges"]["j"]["evaluators"]["single-vanilla"]
    assert rows[0][3].startswith(f"{100 * one['named']['share']:.1f} ")
    assert rows[0][6].startswith(f"{100 * one['false_alarms']['share']:.1f} ")
    assert justifications(report(figures_of(drawn("j", images=3), seed=0))) is None


def test_a_favoured_place_shows_in_both_orders(found: dict[str, Any]) -> None:
    """The judge that takes the first place at times has a bias above none, the other one none; pairs alone have places."""
    judges = found["tasks"][TASK]["judges"]
    biased, fair = (judges[name]["evaluators"]["pairwise-axes"]["places"] for name in ("k", "j"))
    assert biased["bias"]["mean"] > 0.2
    assert biased["adjusted"] <= 0.05
    assert fair["bias"]["mean"] == 0
    assert fair["consistency"]["mean"] == 1
    assert judges["k"]["evaluators"]["single-axes"]["places"] is None
    assert len(rows_of(places(report(found)))) == 8


def test_comparisons_are_paired_by_item_and_adjusted(found: dict[str, Any]) -> None:
    """Judges under one evaluator, paradigms and strategies of one judge; each over what both sides judged."""
    kinds = found["tasks"][TASK]["comparisons"]
    assert {name: len(several) for name, several in kinds.items()} == {"judges": 9, "paradigms": 6, "strategies": 24}
    one = kinds["judges"][0]
    assert (one["of"], one["first"], one["second"]) == ("single-vanilla", "j", "k")
    values = {
        judge: {
            each.item: each.undetected
            for each in two_judges()
            if each.judge == judge and each.evaluator == "single-vanilla" and each.undetected is not None
        }
        for judge in "jk"
    }
    both = [item for item in values["j"] if item in values["k"]]
    assert one["n"] == len(both)
    mean = sum(values["k"][item] - values["j"][item] for item in both) / len(both)
    assert one["difference"]["mean"] == pytest.approx(mean, abs=1e-6)
    assert one["adjusted"] <= 0.05
    assert all(each["adjusted"] >= each["p_value"] for several in kinds.values() for each in several)
    assert rows_of(comparisons(report(found)))[0][:2] == ["single V", "k − j"]


def test_ways_of_asking_stand_beside_each_other(ways: dict[str, Any]) -> None:
    """Efforts in their order, tools against none, a new reference against the original; the main table has one column a model."""
    task = ways["tasks"][TASK]
    assert task["shown"] == ["j@high"]
    (efforts,) = task["budgets"]
    assert list(efforts["arms"]) == ["low", "medium", "high"]
    assert efforts["differences"][1]["difference"]["mean"] < 0
    assert [row[2] for row in rows_of(budgets(report(ways)), 1)] == ["medium − low", "high − low", "high − medium"]
    (helped,) = task["tools"]
    assert helped["model"] == "j@high"
    assert helped["differences"][0]["difference"]["high"] < 0
    assert set(helped["dimensions"]) == set(SOME)
    assert len(rows_of(tools(report(ways)), 1)) == len(SOME)
    (renewed,) = task["references"]
    assert renewed["arms"]["new"]["undetected"]["share"] > renewed["arms"]["original"]["undetected"]["share"]
    assert rows_of(references(report(ways)))[0][:2] == ["j@high", "reference"]
    assert task["judges"]["j@high"]["evaluators"]["reference"]["undetected"]["share"] < 0.4
    assert budgets(report(figures_of(drawn("j", images=3), seed=0))) is None


def test_a_judge_that_only_failed_has_no_figures_and_is_shown(ways: dict[str, Any]) -> None:
    """Where nothing was judged every share is missing, its bounds are the whole scale, and all three formats are drawn."""
    nothing = figures_of(drawn("j", fails=1.0, dimensions=SOME, images=2), seed=0)
    one = nothing["tasks"][TASK]["judges"]["j"]["evaluators"]["single-vanilla"]
    assert one["undetected"]["share"] is None
    assert one["undetected"]["bounds"] == {"low": 0, "high": 1}
    assert one["dimensions"]["tone_mismatch"]["spot"] is None
    for figures in (nothing, ways, figures_of([], seed=0)):
        data = report(figures)
        out = io.StringIO()
        draw_run(Console(file=out, width=100), data)
        assert "What the judges miss" in out.getvalue()
        assert "What the judges miss" in render_document(data)
        assert "What the judges miss" in render_page(data)
