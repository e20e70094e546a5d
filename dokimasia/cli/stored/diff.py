"""`dokimasia diff`: two judges, two models or two prompts on the same samples, pair by pair."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.markup import escape

from dokimasia.cli.shared import console, grid, json_option, placed, print_json, say

if TYPE_CHECKING:
    from dokimasia.cli.places import Place
    from dokimasia.report.blocks import Table

SCORE = "score"


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--models", help="A,B: compare A of FIRST with B of SECOND (default: all models of the same name).")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="List so many changed samples.")
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of FIRST).")
@json_option
@placed
def command(
    place: "Place", first: str, second: str, models: str | None, top: int, seed: int | None, as_json: bool
) -> None:
    """Compare the runs FIRST and SECOND on the samples that both have: SECOND minus FIRST.

    Samples are paired by their content. Two judges on the same answers: two runs of the same data. Two models of one
    run: dokimasia diff RUN RUN --models A,B.

    Without --models, FIRST as last is the newest run that can be compared, and SECOND as last the newest of its kind
    beside FIRST; `diff last last` compares the two newest of a kind, the older one first.
    """
    found = place.compare(first, second, models=_pair(models), top=top, seed=seed, say=say)
    if as_json:
        print_json(found)
    else:
        _print(found, console())


def _pair(models: str | None) -> tuple[str, str] | None:
    if models is None:
        return None
    names = [name.strip() for name in models.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError("--models takes two names: A,B")
    return names[0], names[1]


def _print(found: dict[str, Any], out: Any) -> None:
    from dokimasia.report.data import SIMULATED_NOTE
    from dokimasia.report.terminal import draw_blocks

    scale = found["scale"]
    if found["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for name in ("first", "second"):
        one = found[name]
        state = "" if one["status"] == "done" else f" · [bold red]{one['status']}[/bold red]"
        judge = f"judge {escape(one['judge'])}" if one["judge"] else "no judge"
        out.print(f"[bold]{name:<6}[/bold] run {one['run']} · {judge}{state}")
    for one in found["differs"]:
        out.print(f"[dim]differs: {escape(one['what'])}: {_short(one['first'])} → {_short(one['second'])}[/dim]")
    if scale is not None:
        for said in (*_scoreless(found), *filter(None, map(_silence, found["pairs"]))):
            out.print(f"[yellow]{said}[/yellow]")
        draw_blocks(out, [_table(found["pairs"])])
    same = found["first"]["judge"] == found["second"]["judge"]
    judges = "both times the judge says the same" if same else "the judges agree"
    for one in found["pairs"]:
        if scale is None:
            _print_contents(one, out)
        else:
            _print_pair(one, out, alone=len(found["pairs"]) == 1, judges=judges, by=found["scored_by"])
    for where, names in _unpaired(found):
        out.print(f"[dim]{where}: {escape(', '.join(names))}[/dim]")
    if scale is None:
        return
    several = " The p-values are not adjusted for the number of pairs." if len(found["pairs"]) > 1 else ""
    what = [] if _scoreless(found) else [f"{SCORE}: in points of the scale from {scale[0]:g} to {scale[1]:g}"]
    if any("stated" in one for one in found["pairs"]):
        what.insert(0, "spoken to: share of the criteria's weight, in percentage points")
    if any("right" in one for one in found["pairs"]):
        what.insert(0, "right: final answers that agree with the reference, in percentage points")
    out.print(
        f"[dim]{'; '.join(what)}. difference: second minus first on the samples that have it in both; 95 % bootstrap interval "
        f"and two-sided sign-flip test, both clustered by samples that share an image.{several}[/dim]"
    )


def _scoreless(found: dict[str, Any]) -> list[str]:
    """Say that no score is compared where nobody was there to score on a side; nothing otherwise."""
    without = dict.fromkeys(name for one in found["pairs"] for name in one["without_scores"])
    runs = " and ".join(dict.fromkeys(f"run {found[name]['run']}" for name in without))
    return [f"no judge scored in {runs}: there are no scores to compare"] if without else []


def _unpaired(found: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield which models are in one run alone, and which of both runs were not named to be compared."""
    left: dict[str, list[str]] = found["unpaired"]
    taken = {name: {one[f"{name}_model"] for one in found["pairs"]} for name in left}
    for name, other in (("first", "second"), ("second", "first")):
        if only := [model for model in left[name] if model not in taken[other] and model not in left[other]]:
            yield f"only in {name}", only
    if both := [model for model in left["first"] if model in left["second"]]:
        yield "not compared", both


def _print_contents(one: dict[str, Any], out: Any) -> None:
    """Print how many items of two runs without scores came to the same, and which did not."""
    whose = f"{escape(_name(one))}: " if one["first_model"] else ""
    failed = ", ".join(f"{count} in {name}" for name, count in one["failed"].items())
    out.print(
        f"{whose}{one['n_shared']} items in both runs, {one['same']} came to the same, {one['different']} did not; "
        f"failed: {failed}"
    )
    if one["items"]:
        table = grid("came to something else", "first", "second")
        for item in one["items"]:
            table.add_row(escape(item["sample"]), item["first"], item["second"])
        out.print(table)


class _Row(NamedTuple):
    """One measure of a pair: of how many samples, with both sides' means and their difference, in parts of one or points."""

    what: str
    n: str
    one: dict[str, Any]
    percent: bool = False


def _rows(one: dict[str, Any]) -> Iterator[_Row]:
    """Yield what is compared of a pair: right answers and what is spoken to come before any score."""
    if (right := one.get("right")) is not None:
        yield _Row("right", _of(right, one), right, percent=True)
    if (stated := one.get("stated")) is not None:
        yield _Row("spoken to", _of(stated, one), stated, percent=True)
    if (both := one.get("both_stated")) is not None and both["difference"] is not None:
        yield _Row("score, both speak", f"{both['n']}", both)
    if one["n_paired"] or right is None:
        yield _Row(SCORE, f"{one['n_paired']}/{one['n_shared']}", one)


def _of(found: dict[str, Any], pair: dict[str, Any]) -> str:
    """Return of how many samples something is compared, and of how many these are where some are left out."""
    return f"{found['n']}/{pair['n_shared']}" if found["lost"] else f"{found['n']}"


def _table(pairs: list[dict[str, Any]]) -> "Table":
    from dokimasia.report.blocks import Column, Span, Table
    from dokimasia.report.figures import NOTHING, no_interval, share, signed_text

    def mean(row: _Row, side: str) -> str:
        return share(row.one[side]).text if row.percent else f"{row.one[side]:.2f}"

    def gap(row: _Row, end: str) -> str:
        value = row.one["difference"][end]
        return signed_text(100 * value, 0) if row.percent else signed_text(value)

    rows: list[list[Any]] = []
    for one in pairs:
        for at, row in enumerate(_rows(one)):
            changed = [f"{row.one['changed'][way]}" for way in ("higher", "equal", "lower")]
            found: list[Any] = [NOTHING] * 5
            if (difference := row.one["difference"]) is not None:
                sure = difference["low"] is not None
                tone = (
                    "good" if sure and difference["low"] > 0 else "bad" if sure and difference["high"] < 0 else "strong"
                )
                p_text = _p_text(row.one["p_value"], row.one["permutations"]["exact"])
                limits = f"{gap(row, 'low')} to {gap(row, 'high')}" if sure else no_interval(difference)
                found = [mean(row, "first"), mean(row, "second"), Span(gap(row, "mean"), tone), limits, p_text]
            rows.append(["" if at else _name(one), row.what, row.n, *found, *changed])
    figures = ("paired", "first", "second", "difference", "95 % interval", "p", "↑", "=", "↓")
    table = Table(
        [Column("model", numeric=False), Column("what", numeric=False), *map(Column, figures)], rows, "Differences"
    )
    if any(row[1] != SCORE for row in rows):
        return table
    return Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in rows], table.about)


def _silence(one: dict[str, Any]) -> str:
    """Say that a pair's scores also say how much each side says; "" where the sides say as much, and enough."""
    from dokimasia.report.figures import SPEAKING, SURE, spoken

    stated = one.get("stated")
    if stated is None or (min(stated["first"], stated["second"]) >= SPEAKING and stated["p_value"] > SURE):
        return ""
    names = [one["first_model"], one["second_model"]]
    if names[0] == names[1]:
        names = [f"{name} in the {which} run" for name, which in zip(names, ("first", "second"), strict=True)]
    return escape(
        f"{names[0]} speaks to {spoken(stated['first']).text} of the criteria's weight and {names[1]} to "
        f"{spoken(stated['second']).text}, so their scores also say how much each says: go by right answers, and by the score "
        "on the criteria that both speak to"
    )


def _print_pair(one: dict[str, Any], out: Any, *, alone: bool, judges: str, by: str) -> None:
    lines = list(_said(one, judges=judges, by=by))
    if not alone and (lines or one["most_changed"]):
        out.print(f"[bold]{escape(_name(one))}[/bold]")
    for line in lines:
        out.print(line)
    if one["most_changed"]:
        from dokimasia.report.figures import signed_text

        table = grid("changed most")
        for name in ("first", "second", "difference"):
            table.add_column(name, justify="right")
        for sample in one["most_changed"]:
            named = sample["sample"] + (f" ({sample['in_second']})" if "in_second" in sample else "")
            gap = signed_text(sample["difference"])
            table.add_row(escape(named), f"{sample['first']:.2f}", f"{sample['second']:.2f}", gap)
        out.print(table)


def _said(one: dict[str, Any], *, judges: str, by: str) -> Iterator[str]:
    """Yield what is to be known of a pair beside its figures: what could not be paired, what is the same, how judges agree.

    `by` says what answers were scored by.
    """
    from dokimasia.report.figures import limits_text, share, signed_text

    if (right := one.get("right")) is not None and right["lost"]:
        lost = ", ".join(f"{count} {why}" for why, count in right["lost"].items())
        yield f"left out of right answers: [red]{escape(lost)}[/red]"
    if one["lost"] and (one["n_paired"] or "right" not in one or one["without_scores"]):
        lost = ", ".join(f"{count} {why}" for why, count in one["lost"].items())
        yield f"not paired: [red]{escape(lost)}[/red]"
        if one["bounds"] is not None and one["n_paired"] < one["n_shared"]:
            bounds = one["bounds"]
            yield (
                f"[dim]whatever the failed ones would have scored, the difference over all {one['n_shared']} lies from "
                f"{signed_text(bounds['low'])} to {signed_text(bounds['high'])}[/dim]"
            )
    if one["n_paired"]:
        of, answers = f"of {one['n_paired']} samples", f"the same answers in {one['same_answers']}"
        if one["same_criteria"] is None:
            yield f"[dim]{answers} {of}[/dim]"
        else:
            yield f"[dim]the same {by} on both sides in {one['same_criteria']} {of}, {answers}[/dim]"
    agreement = one["agreement"]
    if agreement is not None:
        exact = agreement["exact"]
        limits = limits_text(exact, lambda end: share(end).text, " – ")
        yield (
            f"{judges} exactly on {share(exact['share']).text} of {agreement['criteria']} criteria scores "
            f"({limits if exact['low'] is None else f'95 % {limits}'}), within one point on {share(agreement['within_one']).text}"
        )


def _name(one: dict[str, Any]) -> str:
    names = dict.fromkeys((one["first_model"], one["second_model"]))
    return " → ".join(names)


def _p_text(value: float, exact: bool) -> str:
    if value < 0.001 and not exact:
        return "<0.001"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1g}"


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return escape(text if len(text) <= 60 else f"{text[:57]}…")
