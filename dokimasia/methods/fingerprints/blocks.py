"""Fingerprints in the report: how reliably reports without names were matched to answers, as a heat map and pair by pair."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.methods.diagnosis import heat_map
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance

COLUMNS = (
    Column("first", numeric=False),
    Column("second", numeric=False),
    Column(
        "accuracy",
        meaning="share of trials in which both reports were given to the right models; guessing reaches 50 %",
    ),
    Column("95 % interval", meaning="Clopper and Pearson"),
    Column("adjusted p", meaning="that guessing does as well; Benjamini and Hochberg over all pairs"),
    Column("matched", meaning="of the trials"),
    Column("failed", meaning="trials without a usable reply, by kind"),
    Column("with failures", meaning="the accuracy if all failed trials were wrong, and if all were right"),
)


def section(data: ReportData) -> Section | None:
    """Return what the newest test of the run's fingerprints came to; None where there was none."""
    found = data.addition("fingerprint")
    return None if found is None else _section(found)


def test(data: ReportData) -> Section:
    """Return what a test of fingerprints came to by itself."""
    return _section(data.summary)


def _section(found: Mapping[str, Any]) -> Section:
    low, high = found["shown"]["low"], found["shown"]["high"]
    answers = f"{low}" if low == high else f"{low} to {high}"
    blocks: list[Block] = [
        Paragraph(
            f"Test {found['run']}: {figures.several(found['tasks'], 'trial')}, each with {answers} answers of both models and "
            "two reports without names, written from other samples.",
            "lead",
        ),
        *(Paragraph(note, "warning") for note in found["notes"]),
        *_waiting(found),
    ]
    matchers = {found["judge"]: found["by_judge"]} if found["by_judge"]["trials"] else {}
    matchers |= {f"{name}, by hand": counted for name, counted in found["by_hand"].items()}
    maps = [asset for asset in found["assets"] if asset["id"].startswith("heatmap/")]
    for (matcher, counted), asset in zip(matchers.items(), maps, strict=True):
        blocks += _matched(matcher, counted, asset)
    blocks.append(
        Paragraph(
            f"{found['removed']} names and self-descriptions were taken out of answers. How answers are worded and laid out "
            "stays as it is. Accuracy is the share of trials in which both reports were given to the right models; guessing "
            "reaches 50 %. 95 % intervals: Clopper and Pearson for a pair, clustered by pairs for all.",
            "note",
        )
    )
    return Section("fingerprints", "Fingerprints", blocks)


def _matched(matcher: str, counted: Mapping[str, Any], asset: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a matcher's heat map, where there are more than two models, and the table of pairs."""
    rows = [_row(row) for row in counted["pairs"]]
    table = Table(COLUMNS, rows, f"Pairs of models, matched by {matcher}", sortable=True)
    over_all = f"{counted['right']} of {counted['n']} trials rightly"
    if counted["accuracy"] is not None:
        over_all += f", {counted['accuracy']:.0%} ({_range(counted)})"
    if counted["failures"]:
        failed = ", ".join(f"{count} {kind}" for kind, count in counted["failures"].items())
        over_all += f"; {failed} failed, which leaves {_range(counted['bounds'])} open"
    yield Paragraph(
        f"Matched by {matcher}: {over_all}. {counted['pairs_apart']} of {counted['n_pairs']} pairs are told apart "
        "beyond chance (adjusted p at most 0.05 over all pairs), "
        f"{counted['pairs_above_half']} were matched rightly in more than half of their trials."
    )
    if len(asset["rows"]) > 2:
        yield Chart(heat_map(asset), f"{asset['title']}. {asset['sentence']}")
        yield Only("page", (Fold(f"{asset['title']}, pair by pair", (table,)),))
        yield Only("terminal", (table,))
    else:
        yield table


def _waiting(found: Mapping[str, Any]) -> Iterator[Block]:
    """Yield what stands in the way of a test that is not over: models without a report, trials without a match."""
    for model, report in found["reports"].items():
        if report is None or not report["verified"]:
            what = "there is no report" if report is None else "no sentence of the report is verified"
            yield Paragraph(f"{model}: {what}; its trials cannot be told.", "warning")
    if found["waiting"]:
        resume = f"dokimasia resume {found['run']}"
        matches = f"dokimasia diagnose {found['run']} --fingerprint --matches FILE"
        yield Paragraph(
            (
                f"{found['waiting']} trials are not matched by the judge: ",
                Span(resume, "code"),
                " has it match them; a person's file is taken in with ",
                Span(matches, "code"),
            ),
            "warning",
        )


def _row(row: Mapping[str, Any]) -> list[Cell]:
    failed = ", ".join(f"{count} {kind}" for kind, count in row["failures"].items())
    known = row["accuracy"] is not None
    return [
        Span(row["first"], "strong"),
        Span(row["second"]),
        figures.share(row["accuracy"]),
        _range(row) if known else figures.NOTHING,
        figures.p_value(row["adjusted"]),
        f"{row['n']} of {row['trials']}",
        failed or figures.NOTHING,
        _range(row["bounds"]) if failed else figures.NOTHING,
    ]


def _range(row: Mapping[str, Any]) -> str:
    return f"{row['low']:.0%} to {row['high']:.0%}"


DRAWING = Drawing("fingerprints", (test, provenance.section))
