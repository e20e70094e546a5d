"""`dokimasia diff`: two judges, two models or two prompts on the same samples, pair by pair."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from dokimasia.cli.shared import common, console, grid, json_option, print_json, reading

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--models", help="A,B: compare A of FIRST with B of SECOND (default: all models of the same name).")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="List so many changed samples.")
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of FIRST).")
@json_option
@common
def command(
    settings: "Settings", first: str, second: str, models: str | None, top: int, seed: int | None, as_json: bool
) -> None:
    """Compare the runs FIRST and SECOND on the samples that both have: SECOND minus FIRST.

    Samples are paired by their content. Two judges on the same answers: two runs of the same data. Two models of one
    run: dokimasia diff RUN RUN --models A,B.
    """
    from dokimasia.runs.reading.comparing import compare_runs
    from dokimasia.runs.registry import method_of
    from dokimasia.storage.runs import resolve_run

    pair = _pair(models)
    with reading(settings, first) as (home, run):
        found = compare_runs(home, run, resolve_run(home, second), models=pair, top=top, seed=seed)
    if as_json:
        print_json(found)
    else:
        _print(found, console(), scale=method_of(run).scale)


def _pair(models: str | None) -> tuple[str, str] | None:
    if models is None:
        return None
    names = [name.strip() for name in models.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError("--models takes two names: A,B")
    return names[0], names[1]


def _print(found: dict[str, Any], out: Any, *, scale: tuple[float, float] | None) -> None:
    from dokimasia.report.data import SIMULATED_NOTE

    if found["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for name in ("first", "second"):
        one = found[name]
        state = "" if one["status"] == "done" else f" · [bold red]{one['status']}[/bold red]"
        out.print(f"[bold]{name:<6}[/bold] run {one['run']} · judge {escape(one['judge'])}{state}")
    for one in found["differs"]:
        out.print(f"[dim]differs: {escape(one['what'])}: {_short(one['first'])} → {_short(one['second'])}[/dim]")
    if scale is not None:
        out.print(_table(found["pairs"]))
    for one in found["pairs"]:
        if scale is None:
            _print_contents(one, out)
        else:
            _print_pair(one, out, alone=len(found["pairs"]) == 1)
    for name in ("first", "second"):
        if found["unpaired"][name]:
            out.print(f"[dim]only in {name}: {escape(', '.join(found['unpaired'][name]))}[/dim]")
    if scale is None:
        return
    several = " The p-values are not adjusted for the number of pairs." if len(found["pairs"]) > 1 else ""
    out.print(
        "[dim]difference: second minus first on the samples scored in both, in points of the scale from "
        f"{scale[0]:g} to {scale[1]:g}; 95 % bootstrap interval and two-sided sign-flip test, both clustered by samples "
        f"that share an image.{several}[/dim]"
    )


def _print_contents(one: dict[str, Any], out: Any) -> None:
    """Print how many items of two runs without scores came to the same, and which did not."""
    whose = f"{_name(one)}: " if one["first_model"] else ""
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


def _table(pairs: list[dict[str, Any]]) -> Any:
    table = grid("model")
    for name in ("paired", "first", "second", "difference", "95 % interval", "p", "↑", "=", "↓"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in pairs:
        changed = [str(one["changed"][name]) for name in ("higher", "equal", "lower")]
        paired = f"{one['n_paired']}/{one['n_shared']}"
        gap = one["difference"]
        if gap is None:
            table.add_row(_name(one), paired, *["–"] * 5, *changed)
            continue
        style = "bold green" if gap["low"] > 0 else "bold red" if gap["high"] < 0 else "bold"
        table.add_row(
            _name(one),
            paired,
            f"{one['first']:.2f}",
            f"{one['second']:.2f}",
            f"[{style}]{gap['mean']:+.2f}[/{style}]",
            f"{gap['low']:+.2f} – {gap['high']:+.2f}",
            _p_text(one["p_value"], one["permutations"]["exact"]),
            *changed,
        )
    return table


def _print_pair(one: dict[str, Any], out: Any, *, alone: bool) -> None:
    if not alone:
        out.print(f"[bold]{_name(one)}[/bold]")
    if one["lost"]:
        lost = ", ".join(f"{count} {why}" for why, count in one["lost"].items())
        out.print(f"not paired: [red]{escape(lost)}[/red]")
        if one["bounds"] is not None and one["n_paired"] < one["n_shared"]:
            bounds = one["bounds"]
            out.print(
                f"[dim]whatever the failed ones would have scored, the difference over all {one['n_shared']} lies from "
                f"{bounds['low']:+.2f} to {bounds['high']:+.2f}[/dim]"
            )
    if one["n_paired"]:
        out.print(
            f"[dim]the same criteria on both sides in {one['same_criteria']} of {one['n_paired']} samples, the same "
            f"answers in {one['same_answers']}[/dim]"
        )
    for line in _spoken(one):
        out.print(line)
    agreement = one["agreement"]
    if agreement is not None:
        exact = agreement["exact"]
        out.print(
            f"the judges agree exactly on {exact['share']:.0%} of {agreement['criteria']} criteria scores "
            f"(95 % {exact['low']:.0%} – {exact['high']:.0%}), within one point on {agreement['within_one']:.0%}"
        )
    if one["most_changed"]:
        table = grid("changed most")
        for name in ("first", "second", "difference"):
            table.add_column(name, justify="right")
        for sample in one["most_changed"]:
            named = sample["sample"] + (f" ({sample['in_second']})" if "in_second" in sample else "")
            gap = f"{sample['difference']:+.2f}"
            table.add_row(escape(named), f"{sample['first']:.2f}", f"{sample['second']:.2f}", gap)
        out.print(table)


def _spoken(one: dict[str, Any]) -> Iterator[str]:
    """Yield what comes beside a difference in score: right answers, what is spoken to, the score on what both speak to."""
    stated = one.get("stated")
    if stated is not None:
        shares = f"{stated['first']:.0%} and {stated['second']:.0%}"
        yield f"of the criteria's weight the answers speak to {shares}: {_gap(stated, 100)}"
        if min(stated["first"], stated["second"]) < 0.8 or stated["p_value"] <= 0.05:
            yield (
                "[yellow]one side says less than the other, or less than 80 %, so the scores also say how much each says: go "
                "by right answers, and by the criteria that both speak to[/yellow]"
            )
    if (right := one.get("right")) is not None:
        yield f"right answers on {right['n']} samples: {right['first']:.0%} and {right['second']:.0%}: {_gap(right, 100)}"
    both = one.get("both_stated")
    if both is not None and both["difference"] is not None:
        yield (
            f"on the {both['criteria']} criteria in {both['n']} samples that both speak to: {both['first']:.2f} and "
            f"{both['second']:.2f}: {_gap(both, 1)}"
        )


def _gap(one: dict[str, Any], scale: int) -> str:
    gap = {end: value * scale for end, value in one["difference"].items()}
    digits = 0 if scale > 1 else 2
    unit = " percentage points" if scale > 1 else ""
    limits = f"95 % {gap['low']:+.{digits}f} to {gap['high']:+.{digits}f}"
    return f"{gap['mean']:+.{digits}f}{unit} ({limits}; p {_p_text(one['p_value'], one['permutations']['exact'])})"


def _name(one: dict[str, Any]) -> str:
    names = dict.fromkeys((one["first_model"], one["second_model"]))
    return escape(" → ".join(names))


def _p_text(value: float, exact: bool) -> str:
    if value < 0.001 and not exact:
        return "<0.001"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1g}"


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return escape(text if len(text) <= 60 else f"{text[:57]}…")
