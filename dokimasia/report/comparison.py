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


def comparison_blocks(found: Mapping[str, Any], *, changed: bool = True) -> Iterator[Block]:
    """Yield what `dokimasia.runs.reading.comparison.compare_runs` found: what differs, the figures, and what they leave out.

    Args:
        found: what it returns.
        changed: whether the samples that changed most are listed, too.
    """
    scale, pairs, own = found["scale"], found["pairs"], within_a_run(found)
    if own:
        pairs = [turned(one) for one in pairs]
    if found["simulated"]:
        yield Paragraph(SIMULATED_NOTE, "warning")
    for name in ("first",) if own else ("first", "second"):
        one = found[name]
        state = () if one["status"] == "done" else (" · ", Span(one["status"], "bad"))
        judge = f"judge {one['judge']}" if one["judge"] else "no judge"
        called = [f"run {one['run']}"] if own else [f"{name:<6}", f" run {one['run']}"]
        if own and pairs:
            judge = f"{judge} · first {pairs[0]['first_model']}, second {pairs[0]['second_model']}"
        yield Paragraph((Span(called[0], "strong"), *called[1:], f" · {judge}", *state))
    if corrected := found.get("corrected"):
        by_hand = "; ".join(
            f"{name}: {several(one['answers'], 'answer')}, {several(one['left_out'], 'sample')} left out"
            for name, one in corrected.items()
        )
        yield Paragraph(
            f"corrected by hand: {by_hand}. A corrected answer counts as the person said, also where judges are compared.",
            "warning",
        )
    for one in found["differs"]:
        first, second = shortened_names([_plain(one["first"]), _plain(one["second"])], SHORT)
        yield Paragraph(f"differs: {one['what']}: {first} → {second}", "note")
    if scale is not None:
        yield from (Paragraph(said, "warning") for said in (*_scoreless(found), *filter(None, map(_silence, pairs))))
        yield _table(pairs, own=own)
    same = found["first"]["judge"] == found["second"]["judge"]
    judges = "both times the judge says the same" if same else "the judges agree"
    for one in pairs:
        if scale is None:
            yield from _contents(one, changed=changed)
            continue
        said: list[Block] = list(_said(one, judges=judges, by=found["scored_by"]))
        if changed and one["most_changed"]:
            said.append(_most_changed(one["most_changed"], sides_of(one, own=own)))
        if len(pairs) > 1 and said:
            yield Paragraph(Span(pair_name(one), "strong"))
        yield from said
    for where, names in _unpaired(found):
        yield Paragraph(f"{where}: {', '.join(names)}", "note")
    if scale is not None:
        yield Paragraph(_meaning(found), "note")
        compared = [row.one for one in pairs for row in _rows(one)]
        yield from (Paragraph(said, "note") for said in interval_and_test(compared))


def pair_name(one: Mapping[str, Any], *, own: bool = False) -> str:
    """Return what a pair is called: the model, or the first and the second; `own`: both are of one run."""
    return f" {MINUS if own else '→'} ".join(dict.fromkeys((one["first_model"], one["second_model"])))


def sides_of(one: Mapping[str, Any], *, own: bool) -> tuple[str, str]:
    """Return what both sides of a pair are called: of one run by their models."""
    return (one["first_model"], one["second_model"]) if own else ("first", "second")


def interval_and_test(compared: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is to be known where an interval and its p-value do not go together, as both stand in one row."""
    apart = unlike = False
    for one in compared:
        difference, changed = one["difference"], one.get("changed")
        if difference is None or difference["low"] is None:
            continue
        if changed is not None and not changed["higher"] and not changed["lower"]:
            unlike = True
        elif (difference["low"] <= 0 <= difference["high"]) == (one["p_value"] <= SURE):
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


def _meaning(found: Mapping[str, Any]) -> str:
    """Say what the figures of the table are."""
    scale = found["scale"]
    way = "first minus second" if within_a_run(found) else "second minus first"
    several = " The p-values are not adjusted for the number of pairs." if len(found["pairs"]) > 1 else ""
    what = [] if _scoreless(found) else [f"{SCORE}: in points of the scale from {scale[0]:g} to {scale[1]:g}"]
    if any("stated" in one for one in found["pairs"]):
        what.insert(0, "spoken to: share of the criteria's weight, in percentage points")
    if any("strict_accuracy" in one for one in found["pairs"]):
        what.insert(
            0,
            "strict accuracy: final answers that agree with the reference, undecided ones counted as not right, in percentage "
            "points",
        )
    return (
        f"{'; '.join(what)}. difference: {way} on the samples that have it in both; 95 % bootstrap interval "
        f"and two-sided sign-flip test, both clustered by samples that share an image.{several}"
    )


def _scoreless(found: Mapping[str, Any]) -> list[str]:
    """Say that no score is compared where nobody was there to score on a side; nothing otherwise."""
    without = dict.fromkeys(name for one in found["pairs"] for name in one["without_scores"])
    runs = " and ".join(dict.fromkeys(f"run {found[name]['run']}" for name in without))
    return [f"no judge scored in {runs}: there are no scores to compare"] if without else []


def _unpaired(found: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield which models are in one run alone, and which of both runs were not named to be compared."""
    left: Mapping[str, list[str]] = found["unpaired"]
    taken = {name: {one[f"{name}_model"] for one in found["pairs"]} for name in left}
    for name, other in (("first", "second"), ("second", "first")):
        if only := [model for model in left[name] if model not in taken[other] and model not in left[other]]:
            yield f"only in {name}", only
    if both := [model for model in left["first"] if model in left["second"]]:
        yield "not compared", both


def _contents(one: Mapping[str, Any], *, changed: bool) -> Iterator[Block]:
    """Yield how many items of two runs without scores came to the same, and which did not."""
    whose = f"{pair_name(one)}: " if one["first_model"] else ""
    failed = ", ".join(f"{count} in {name}" for name, count in one["failed"].items())
    yield Paragraph(
        f"{whose}{one['n_shared']} items in both runs, {one['same']} came to the same, {one['different']} did not; "
        f"failed: {failed}"
    )
    if changed and one["items"]:
        columns = [Column(title, numeric=False) for title in ("came to something else", "first", "second")]
        rows = [[item["sample"], item["first"], item["second"]] for item in one["items"]]
        yield Table(columns, rows, "Items that came to something else")


class _Row(NamedTuple):
    """One measure of a pair: of how many samples, with both sides' means and their difference, in parts of one or points."""

    what: str
    n: str
    one: Mapping[str, Any]
    percent: bool = False


def _rows(one: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield what is compared of a pair: strict accuracy and what is spoken to come before any score."""
    if (right := one.get("strict_accuracy")) is not None:
        yield _Row("strict accuracy", _of(right, one), right, percent=True)
    if (stated := one.get("stated")) is not None:
        yield _Row("spoken to", _of(stated, one), stated, percent=True)
    if (both := one.get("both_stated")) is not None and both["difference"] is not None:
        yield _Row("score, both speak", f"{both['n']}", both)
    if one["n_paired"] or right is None:
        yield _Row(SCORE, f"{one['n_paired']}/{one['n_shared']}", one)


def _of(found: Mapping[str, Any], pair: Mapping[str, Any]) -> str:
    """Return of how many samples something is compared, and of how many these are where some are left out."""
    return f"{found['n']}/{pair['n_shared']}" if found["lost"] else f"{found['n']}"


def _table(pairs: Sequence[Mapping[str, Any]], *, own: bool) -> Table:
    rows: list[list[Cell]] = []
    for one in pairs:
        for at, row in enumerate(_rows(one)):
            changed = [f"{row.one['changed'][way]}" for way in ("higher", "equal", "lower")]
            rows.append(
                [
                    "" if at else pair_name(one, own=own),
                    row.what,
                    row.n,
                    *difference_cells(row.one, row.percent),
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


def difference_cells(one: Mapping[str, Any], percent: bool = False) -> list[Cell]:
    """Return both means, their difference, its interval and its p-value; without a pair five times nothing."""
    if (difference := one["difference"]) is None:
        return [NOTHING] * 5

    def mean(side: str) -> str:
        return share(one[side]).text if percent else f"{one[side]:.2f}"

    def gap(end: str) -> str:
        value = difference[end]
        return signed_text(100 * value, 0) if percent else signed_text(value)

    sure = difference["low"] is not None
    tone = "good" if sure and difference["low"] > 0 else "bad" if sure and difference["high"] < 0 else "strong"
    limits: Cell = f"{gap('low')} to {gap('high')}" if sure else no_interval(difference)
    p_value = _p_text(one["p_value"], one["permutations"]["exact"])
    return [mean("first"), mean("second"), Span(gap("mean"), tone), limits, p_value]


def _silence(one: Mapping[str, Any]) -> str:
    """Say that a pair's scores also say how much each side says; "" where the sides say as much, and enough."""
    stated = one.get("stated")
    if stated is None or (min(stated["first"], stated["second"]) >= SPEAKING and stated["p_value"] > SURE):
        return ""
    names = [one["first_model"], one["second_model"]]
    if names[0] == names[1]:
        names = [f"{name} in the {which} run" for name, which in zip(names, ("first", "second"), strict=True)]
    return (
        f"{names[0]} speaks to {spoken(stated['first']).text} of the criteria's weight and {names[1]} to "
        f"{spoken(stated['second']).text}, so their scores also say how much each says: go by strict accuracy, and by the score "
        "on the criteria that both speak to"
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


def _said(one: Mapping[str, Any], *, judges: str, by: str) -> Iterator[Block]:
    """Yield what is to be known of a pair beside its figures: what could not be paired, what is the same, how judges agree.

    `by` says what answers were scored by.
    """
    if (right := one.get("strict_accuracy")) is not None and right["lost"]:
        lost = ", ".join(f"{count} {why}" for why, count in right["lost"].items())
        yield Paragraph(("left out of strict accuracy: ", Span(lost, "bad")))
    if right is not None and any(right["n_undecided"].values()):
        yield Paragraph(_undecided(one, right))
    if one["lost"] and (one["n_paired"] or right is None or one["without_scores"]):
        lost = ", ".join(f"{count} {why}" for why, count in one["lost"].items())
        yield Paragraph(("not paired: ", Span(lost, "bad")))
        if one["bounds"] is not None and one["n_paired"] < one["n_shared"]:
            bounds = one["bounds"]
            yield Paragraph(
                f"whatever the failed ones would have scored, the difference over all {one['n_shared']} lies from "
                f"{signed_text(bounds['low'])} to {signed_text(bounds['high'])}",
                "note",
            )
    if one["n_paired"]:
        of, answers = f"of {one['n_paired']} samples", f"the same answers in {one['same_answers']}"
        if one["same_criteria"] is None:
            yield Paragraph(f"{answers} {of}", "note")
        else:
            yield Paragraph(f"the same {by} on both sides in {one['same_criteria']} {of}, {answers}", "note")
    agreement = one["agreement"]
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
