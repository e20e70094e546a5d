"""Two runs, or two models of one, held against each other: what `diff` prints, as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.direction import turned, within_a_run
from dokimasia.report.figures import (
    MINUS,
    NOTHING,
    SPEAKING,
    SURE,
    in_words,
    limits_text,
    no_interval,
    several,
    share,
    signed_text,
    spoken,
)
from dokimasia.report.labels import shortened_names

SCORE = "score"
SHORT = 60
"""Characters of what differs between two plans that are shown."""


def comparison_blocks(comparison: Mapping[str, Any], *, changed: bool = True) -> Iterator[Block]:
    """Yield what `dokimasia.runs.reading.comparison.compare_runs` found: what differs, the figures, and what they leave out.

    Args:
        found: what it returns.
        changed: whether the samples that changed most are listed, too.
    """
    scale, pairs, same_run = comparison["scale"], comparison["pairs"], within_a_run(comparison)
    if same_run:
        pairs = [turned(pair) for pair in pairs]
    if comparison["simulated"]:
        yield Paragraph(SIMULATED_NOTE, "warning")
    for name in ("first",) if same_run else ("first", "second"):
        side = comparison[name]
        state = () if side["status"] == "done" else (" · ", Span(side["status"], "bad"))
        judge = f"judge {side['judge']}" if side["judge"] else "no judge"
        called = [f"run {side['run']}"] if same_run else [f"{name:<6}", f" run {side['run']}"]
        if same_run and pairs:
            judge = f"{judge} · first {pairs[0]['first_model']}, second {pairs[0]['second_model']}"
        yield Paragraph((Span(called[0], "strong"), *called[1:], f" · {judge}", *state))
    if corrected := comparison.get("corrected"):
        by_hand = "; ".join(
            f"{name}: {several(corrections['answers'], 'answer')}, {several(corrections['left_out'], 'sample')} left out"
            for name, corrections in corrected.items()
        )
        yield Paragraph(
            f"corrected by hand: {by_hand}. A corrected answer counts as the person said, also where judges are compared.",
            "warning",
        )
    for setting in comparison["differs"]:
        first, second = shortened_names([_plain(setting["first"]), _plain(setting["second"])], SHORT)
        yield Paragraph(f"differs: {setting['what']}: {first} → {second}", "note")
    if scale is not None:
        yield from (
            Paragraph(text, "warning") for text in (*_scoreless(comparison), *filter(None, map(_silence, pairs)))
        )
        yield _table(pairs, own=same_run)
    same = comparison["first"]["judge"] == comparison["second"]["judge"]
    judges = "both times the judge says the same" if same else "the judges agree"
    for pair in pairs:
        if scale is None:
            yield from _contents(pair, changed=changed)
            continue
        blocks: list[Block] = list(_remarks(pair, judges=judges, by=comparison["scored_by"]))
        if changed and pair["most_changed"]:
            blocks.append(_most_changed(pair["most_changed"], sides_of(pair, own=same_run)))
        if len(pairs) > 1 and blocks:
            yield Paragraph(Span(pair_name(pair), "strong"))
        yield from blocks
    for where, names in _unpaired(comparison):
        yield Paragraph(f"{where}: {', '.join(names)}", "note")
    if scale is not None:
        yield Paragraph(_meaning(comparison), "note")
        compared = [row.figures for pair in pairs for row in _rows(pair)]
        yield from (Paragraph(text, "note") for text in interval_and_test(compared))


def pair_name(pair: Mapping[str, Any], *, own: bool = False) -> str:
    """Return what a pair is called: the model, or the first and the second; `own`: both are of one run."""
    return f" {MINUS if own else '→'} ".join(dict.fromkeys((pair["first_model"], pair["second_model"])))


def sides_of(pair: Mapping[str, Any], *, own: bool) -> tuple[str, str]:
    """Return what both sides of a pair are called: of one run by their models."""
    return (pair["first_model"], pair["second_model"]) if own else ("first", "second")


def interval_and_test(compared: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is to be known where an interval and its p-value do not go together, as both stand in one row."""
    apart = unlike = False
    for figures in compared:
        difference, changed = figures["difference"], figures.get("changed")
        if difference is None or difference["low"] is None:
            continue
        if changed is not None and not changed["higher"] and not changed["lower"]:
            unlike = True
        elif (difference["low"] <= 0 <= difference["high"]) == (figures["p_value"] <= SURE):
            apart = True
    if apart:
        yield (
            "Interval and test are made in different ways, a bootstrap and sign flips, and at the edge one may leave out 0 "
            "where the other does not, as here: such a difference is not settled."
        )
    if unlike:
        yield (
            "Where no sample differs the interval is not made of differences: it says how far other samples could still "
            "differ when none of so many did, and grows narrower with more images."
        )


def _meaning(comparison: Mapping[str, Any]) -> str:
    """Say what the figures of the table are."""
    scale = comparison["scale"]
    way = "first minus second" if within_a_run(comparison) else "second minus first"
    several = " The p-values are not adjusted for the number of pairs." if len(comparison["pairs"]) > 1 else ""
    parts = [] if _scoreless(comparison) else [f"{SCORE}: in points of the scale from {scale[0]:g} to {scale[1]:g}"]
    if any("stated" in pair for pair in comparison["pairs"]):
        parts.insert(0, "spoken to: share of the criteria's weight, in percentage points")
    if any("strict_accuracy" in pair for pair in comparison["pairs"]):
        parts.insert(
            0,
            "strict accuracy: final answers that agree with the reference, undecided ones counted as not right, in percentage "
            "points",
        )
    return (
        f"{'; '.join(parts)}. difference: {way} on the samples that have it in both; 95 % bootstrap interval "
        f"and two-sided sign-flip test, both clustered by samples that share an image.{several}"
    )


def _scoreless(comparison: Mapping[str, Any]) -> list[str]:
    """Say that no score is compared where nobody was there to score on a side; nothing otherwise."""
    without = dict.fromkeys(name for pair in comparison["pairs"] for name in pair["without_scores"])
    runs = " and ".join(dict.fromkeys(f"run {comparison[name]['run']}" for name in without))
    return [f"no judge scored in {runs}: there are no scores to compare"] if without else []


def _unpaired(comparison: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield which models are in one run alone, and which of both runs were not named to be compared."""
    left: Mapping[str, list[str]] = comparison["unpaired"]
    paired = {name: {pair[f"{name}_model"] for pair in comparison["pairs"]} for name in left}
    for name, other in (("first", "second"), ("second", "first")):
        if only := [model for model in left[name] if model not in paired[other] and model not in left[other]]:
            yield f"only in {name}", only
    if unchosen := [model for model in left["first"] if model in left["second"]]:
        yield "not compared", unchosen


def _contents(pair: Mapping[str, Any], *, changed: bool) -> Iterator[Block]:
    """Yield how many items of two runs without scores came to the same, and which did not."""
    whose = f"{pair_name(pair)}: " if pair["first_model"] else ""
    failed = ", ".join(f"{count} in {name}" for name, count in pair["failed"].items())
    yield Paragraph(
        f"{whose}{pair['n_shared']} items in both runs, {pair['same']} came to the same, {pair['different']} did not; "
        f"failed: {failed}"
    )
    if changed and pair["items"]:
        columns = [Column(title, numeric=False) for title in ("came to something else", "first", "second")]
        rows = [[item["sample"], item["first"], item["second"]] for item in pair["items"]]
        yield Table(columns, rows, "Items that came to something else")


class _Row(NamedTuple):
    """One measure of a pair: of how many samples, with both sides' means and their difference, in parts of one or points."""

    name: str
    n: str
    figures: Mapping[str, Any]
    percent: bool = False


def _rows(pair: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield what is compared of a pair: strict accuracy and what is spoken to come before any score."""
    if (right := pair.get("strict_accuracy")) is not None:
        yield _Row("strict accuracy", _of(right, pair), right, percent=True)
    if (coverage := pair.get("stated")) is not None:
        yield _Row("spoken to", _of(coverage, pair), coverage, percent=True)
    if (shared_score := pair.get("both_stated")) is not None and shared_score["difference"] is not None:
        yield _Row("score, both speak", f"{shared_score['n']}", shared_score)
    if pair["n_paired"] or right is None:
        yield _Row(SCORE, f"{pair['n_paired']}/{pair['n_shared']}", pair)


def _of(figures: Mapping[str, Any], pair: Mapping[str, Any]) -> str:
    """Return of how many samples something is compared, and of how many these are where some are left out."""
    return f"{figures['n']}/{pair['n_shared']}" if figures["lost"] else f"{figures['n']}"


def _table(pairs: Sequence[Mapping[str, Any]], *, own: bool) -> Table:
    rows: list[list[Cell]] = []
    for pair in pairs:
        for at, row in enumerate(_rows(pair)):
            changed = [f"{row.figures['changed'][way]}" for way in ("higher", "equal", "lower")]
            rows.append(
                [
                    "" if at else pair_name(pair, own=own),
                    row.name,
                    row.n,
                    *difference_cells(row.figures, row.percent),
                    *changed,
                ]
            )
    figures = ("paired", "first", "second", "difference", "95 % interval", "p", "↑", "=", "↓")
    table = Table(
        [Column("model", numeric=False), Column("what", numeric=False), *map(Column, figures)], rows, "Differences"
    )
    if any(row[1] != SCORE for row in rows):
        return table
    return Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in rows], table.about)


def difference_cells(figures: Mapping[str, Any], percent: bool = False) -> list[Cell]:
    """Return both means, their difference, its interval and its p-value; without a pair five times nothing."""
    if (difference := figures["difference"]) is None:
        return [NOTHING] * 5

    def mean(side: str) -> str:
        return share(figures[side]).text if percent else f"{figures[side]:.2f}"

    def gap(end: str) -> str:
        value = difference[end]
        return signed_text(100 * value, 0) if percent else signed_text(value)

    sure = difference["low"] is not None
    tone = "strong"
    if sure and difference["low"] > 0:
        tone = "good"
    elif sure and difference["high"] < 0:
        tone = "bad"
    limits: Cell = f"{gap('low')} to {gap('high')}" if sure else no_interval(difference)
    p_value = _p_text(figures["p_value"], figures["permutations"]["exact"])
    return [mean("first"), mean("second"), Span(gap("mean"), tone), limits, p_value]


def _silence(pair: Mapping[str, Any]) -> str:
    """Say that a pair's scores also say how much each side says; "" where the sides say as much, and enough."""
    coverage = pair.get("stated")
    if coverage is None or (min(coverage["first"], coverage["second"]) >= SPEAKING and coverage["p_value"] > SURE):
        return ""
    names = [pair["first_model"], pair["second_model"]]
    if names[0] == names[1]:
        names = [f"{name} in the {side} run" for name, side in zip(names, ("first", "second"), strict=True)]
    return (
        f"{names[0]} speaks to {spoken(coverage['first']).text} of the criteria's weight and {names[1]} to "
        f"{spoken(coverage['second']).text}, so their scores also say how much each says: go by strict accuracy, and by "
        "the score on the criteria that both speak to"
    )


def _undecided(pair: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """Say how many answers are undecided, and where the difference of strict accuracy lies whatever they are."""
    sides = sides_of(pair, own=pair["first_model"] != pair["second_model"])
    counted = [
        f"{right['n_undecided'][name]:,} of {side}" for name, side in zip(("first", "second"), sides, strict=True)
    ]
    low, high = (signed_text(100 * right["bounds"][end], 0) for end in ("low", "high"))
    return (
        f"undecided answers, counted as not right: {in_words(counted)}; whatever they are, the difference on these samples "
        f"lies from {low} to {high}"
    )


def _most_changed(samples: Sequence[Mapping[str, Any]], sides: tuple[str, str]) -> Table:
    rows: list[list[Cell]] = [
        [
            sample["sample"] + (f" ({sample['in_second']})" if "in_second" in sample else ""),
            f"{sample['first']:.2f}",
            f"{sample['second']:.2f}",
            signed_text(sample["difference"]),
        ]
        for sample in samples
    ]
    columns = [Column("changed most", numeric=False), *map(Column, (*sides, "difference"))]
    return Table(columns, rows, "The samples that changed most")


def _remarks(pair: Mapping[str, Any], *, judges: str, by: str) -> Iterator[Block]:
    """Yield what is to be known of a pair beside its figures: what could not be paired, what is the same, how judges agree.

    `by` says what answers were scored by.
    """
    if (right := pair.get("strict_accuracy")) is not None and right["lost"]:
        lost = ", ".join(f"{count} {why}" for why, count in right["lost"].items())
        yield Paragraph(("left out of strict accuracy: ", Span(lost, "bad")))
    if right is not None and any(right["n_undecided"].values()):
        yield Paragraph(_undecided(pair, right))
    if pair["lost"] and (pair["n_paired"] or right is None or pair["without_scores"]):
        lost = ", ".join(f"{count} {why}" for why, count in pair["lost"].items())
        yield Paragraph(("not paired: ", Span(lost, "bad")))
        if pair["bounds"] is not None and pair["n_paired"] < pair["n_shared"]:
            bounds = pair["bounds"]
            yield Paragraph(
                f"whatever the failed ones would have scored, the difference over all {pair['n_shared']} lies from "
                f"{signed_text(bounds['low'])} to {signed_text(bounds['high'])}",
                "note",
            )
    if pair["n_paired"]:
        of, answers = f"of {pair['n_paired']} samples", f"the same answers in {pair['same_answers']}"
        if pair["same_criteria"] is None:
            yield Paragraph(f"{answers} {of}", "note")
        else:
            yield Paragraph(f"the same {by} on both sides in {pair['same_criteria']} {of}, {answers}", "note")
    agreement = pair["agreement"]
    if agreement is not None:
        exact = agreement["exact"]
        limits = limits_text(exact, lambda end: share(end).text, " – ")
        yield Paragraph(
            f"{judges} exactly on {share(exact['share']).text} of {agreement['criteria']} criteria scores "
            f"({limits if exact['low'] is None else f'95 % {limits}'}), within one point on "
            f"{share(agreement['within_one']).text}"
        )


def _p_text(value: float, exact: bool) -> str:
    if value < 0.001 and not exact:
        return "< 0.001"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1g}"


def _plain(value: Any) -> str:
    return "–" if value is None else str(value)
