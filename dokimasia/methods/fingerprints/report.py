"""The report of a fingerprint test: accuracy of matching as a heat map and by pair."""

from collections.abc import Iterator

from dokimasia.domain.diagnosis.tables import Asset
from dokimasia.methods.diagnosis import heat_map
from dokimasia.methods.fingerprints.figures import (
    FingerprintFigures,
    MatcherFigures,
    MatchRates,
    OpenBounds,
    PairMatched,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Fold, Only, Paragraph, Section, Span
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import rows_of
from dokimasia.report.sections import provenance
from dokimasia.report.tables import column, computed_column, table


def section(data: ReportData) -> Section | None:
    """Return the section of the newest fingerprint test on an evaluation's page; None without one."""
    addition = data.addition("fingerprint")
    if addition is None:
        return None
    return _section(FingerprintFigures.model_validate(addition))


def test(data: ReportData) -> Section:
    """Return the section of a fingerprint test on its own page."""
    return _section(data.figures_as(FingerprintFigures))


def conclusion(data: ReportData) -> list[Cell]:
    """Return how often the judge matched reports to the right models, and how many pairs it distinguishes."""
    test = data.figures_as(FingerprintFigures)
    judge = test.by_judge
    if judge.accuracy is None:
        return [f"None of {figures.several(test.tasks, 'trial')} is matched."]
    return [
        f"{test.judge} gives {judge.right} of {figures.several(judge.n, 'pair of reports', 'pairs of reports')} to the "
        f"right models: {figures.measured_share(judge.accuracy).text} ({_range(judge)}), where guessing reaches 50 %.",
        f"{judge.pairs_apart} of {figures.several(judge.n_pairs, 'pair')} of models are told apart beyond chance.",
    ]


def _section(test: FingerprintFigures) -> Section:
    low, high = test.shown.low, test.shown.high
    answers = f"{low}" if low == high else f"{low} to {high}"
    blocks: list[Block] = [
        Paragraph(
            f"Test {test.run}: {figures.several(test.tasks, 'trial')}, each with {answers} answers of both models and "
            "two reports without names, written from other samples."
        )
    ]
    blocks += [Paragraph(note, "warning") for note in test.notes]
    blocks += _unfinished(test)
    matchers: dict[str, MatcherFigures] = {}
    if test.by_judge.trials:
        matchers[test.judge] = test.by_judge
    for name, by_person in test.by_hand.items():
        matchers[f"{name}, by hand"] = by_person
    heat_maps = [asset for asset in test.assets if asset.family == "heatmap"]
    for (name, matcher), asset in zip(matchers.items(), heat_maps, strict=True):
        blocks += _matcher_blocks(name, matcher, asset)
    blocks.append(
        Paragraph(
            f"{test.removed} names and self-descriptions were taken out of answers. How answers are worded and laid out "
            "stays as it is. Accuracy is the share of trials in which both reports were given to the right models; guessing "
            "reaches 50 %. 95 % intervals: Clopper and Pearson for a pair, clustered by pairs for all.",
            "note",
        )
    )
    return Section("fingerprints", "Fingerprints", blocks)


def _unfinished(test: FingerprintFigures) -> Iterator[Block]:
    """Yield the missing parts of an unfinished test: models without a report, trials without a match."""
    for model, report in test.reports.items():
        if report is None:
            yield Paragraph(f"{model}: there is no report; its trials cannot be told.", "warning")
        elif not report.verified:
            yield Paragraph(f"{model}: no sentence of the report is verified; its trials cannot be told.", "warning")
    if test.waiting:
        yield Paragraph(
            (
                f"{test.waiting} trials are not matched by the judge: ",
                Span(f"dokimasia resume {test.run}", "code"),
                " has it match them; a person's file is taken in with ",
                Span(f"dokimasia diagnose {test.run} --fingerprint --matches FILE", "code"),
            ),
            "warning",
        )


def _matcher_blocks(name: str, matcher: MatcherFigures, heat_map_asset: Asset) -> Iterator[Block]:
    """Yield a matcher's heat map, if there are more than two models, and the table of pairs."""
    summary = f"{matcher.right} of {matcher.n} trials rightly"
    if matcher.accuracy is not None:
        summary += f", {figures.measured_share(matcher.accuracy).text} ({_range(matcher)})"
    if matcher.failures:
        summary += f"; {_failure_counts(matcher)} failed, which leaves {_range(matcher.bounds)} open"
    yield Paragraph(
        f"Matched by {name}: {summary}. {matcher.pairs_apart} of {matcher.n_pairs} pairs are told apart "
        "beyond chance (adjusted p at most 0.05 over all pairs), "
        f"{matcher.pairs_above_half} were matched rightly in more than half of their trials."
    )
    pairs = table(
        PairMatched,
        rows_of({f"{pair.first} {pair.second}": pair for pair in matcher.pairs}),
        [
            column("first", write=lambda name, _: Span(name, "strong")),
            column("second", write=lambda name, _: Span(name)),
            column("accuracy"),
            computed_column("95 % interval", lambda row: _interval(row.figures), meaning="Clopper and Pearson"),
            column("adjusted"),
            computed_column("matched", lambda row: f"{row.figures.n} of {row.figures.trials}", meaning="of the trials"),
            computed_column(
                "failed",
                lambda row: _failure_counts(row.figures) or figures.NOTHING,
                meaning="trials without a usable reply, by kind",
            ),
            computed_column(
                "with failures",
                lambda row: _range(row.figures.bounds) if row.figures.failures else figures.NOTHING,
                meaning="the accuracy if all failed trials were wrong, and if all were right",
            ),
        ],
        f"Pairs of models, matched by {name}",
        sortable=True,
    )
    if len(heat_map_asset.rows) > 2:
        yield Chart(heat_map(heat_map_asset), f"{heat_map_asset.title}. {heat_map_asset.sentence}")
        yield Only("page", (Fold(f"{heat_map_asset.title}, pair by pair", (pairs,)),))
        yield Only("terminal", (pairs,))
    else:
        yield pairs


def _interval(pair: PairMatched) -> Cell:
    if pair.accuracy is None:
        return figures.NOTHING
    return _range(pair)


def _failure_counts(rates: MatchRates) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in rates.failures.items())


def _range(ends: MatchRates | OpenBounds) -> str:
    return f"{figures.percent_limits(ends, ' to ')} %"


DRAWING = Drawing("fingerprints", (test, provenance.section), figures=FingerprintFigures, conclusion=conclusion)
