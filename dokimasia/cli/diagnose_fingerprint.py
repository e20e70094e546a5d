"""`dokimasia diagnose RUN --fingerprint`: can reports without names be matched to responses? By a judge, or by a person."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import console, print_json

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run

MOST_ACROSS = 9
"""Models that a heat map has room for beside each other in a terminal."""


def fingerprint_run(
    settings: "Settings",
    run: str,
    *,
    tree: str | None,
    judge: str | None,
    matches: Path | None,
    seed: int | None,
    as_json: bool,
    folder: Path | None = None,
    by_hand: bool = False,
    **more: Any,
) -> None:
    """Have a judge match reports to responses, or take a person's matches in; with a folder, write all of it there."""
    from dokimasia.methods.fingerprints.results import fingerprint_summary
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    if matches is not None:
        if judge is not None or by_hand:
            raise click.UsageError(
                f"--matches takes in what a person decided; {'--judge' if judge else '--by-hand'} does not go with it"
            )
        id = _taken_in(settings, run, matches)
    elif judge is None:
        raise click.UsageError("--fingerprint needs --judge M: who writes the reports, and matches them")
    elif by_hand and folder is None:
        raise click.UsageError("--by-hand needs --export DIR: where the trials are written for a person")
    else:
        id = _carried_out(settings, {"run": run, "judge": judge, "tree": tree, "seed": seed, **more}, by_hand=by_hand)
    with Home.open(settings.home, write=False) as home:
        summary = fingerprint_summary(home, get_run(home, id))
    print_fingerprints(summary, as_json=as_json)
    if folder is not None:
        _exported(settings, id, summary, folder)


def show_run(settings: "Settings", run: "Run", *, as_json: bool, sample: str | None = None) -> None:
    """Print what a test of fingerprints came to."""
    from dokimasia.methods.fingerprints.results import fingerprint_summary
    from dokimasia.storage.home import Home

    if sample is not None:
        raise click.UsageError("a test of fingerprints has no samples to show")
    with Home.open(settings.home, write=False) as home:
        summary = fingerprint_summary(home, run)
    print_fingerprints(summary, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a test of fingerprints under other limits, and print what it came to."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.fingerprints.fingerprinting import resume_fingerprints
    from dokimasia.methods.fingerprints.matching import read_fingerprint_plan

    asked = read_fingerprint_plan(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_fingerprints(run, settings=settings, request=asked, observer=observer, stop=stop),
        settings,
    )
    print_fingerprints(result.summary, as_json=as_json)


def print_fingerprints(summary: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the accuracy of matching: JSON for machines; for people a heat map and a table of pairs for each matcher."""
    if as_json:
        print_json(summary)
        return
    from rich.markup import escape

    from dokimasia.report.data import SIMULATED_NOTE

    out = console()
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for note in summary["notes"]:
        out.print(f"[red]{escape(note)}[/red]")
    low, high = summary["shown"]["low"], summary["shown"]["high"]
    out.print(
        f"[bold]fingerprints {summary['run']}[/bold] of run {summary['source']} · reports by {escape(summary['judge'])} · "
        f"{summary['tasks']} trials of {low if low == high else f'{low} to {high}'} answers of each model · "
        f"{summary['removed']} names and self-descriptions taken out of answers"
    )
    for model, report in summary["reports"].items():
        if report is None or not report["verified"]:
            what = "there is no report" if report is None else "no sentence of the report is verified"
            out.print(f"[red]{escape(model)}: {what}; its trials cannot be told[/red]")
    if summary["waiting"]:
        out.print(
            f"[bold red]{summary['waiting']} trials are not matched by the judge[/bold red]: dokimasia resume "
            f"{summary['run']} has it match them; a person's file is taken in with dokimasia diagnose {summary['run']} "
            "--fingerprint --matches FILE"
        )
    _print_figures(out, summary["judge"], summary["by_judge"], summary["models"])
    for name, figures in summary["by_hand"].items():
        _print_figures(out, f"{name}, by hand", figures, summary["models"])
    out.print(
        "[dim]accuracy: the share of trials in which both reports were given to the right models; guessing reaches 50 %. "
        "95 % intervals: Clopper and Pearson for a pair, clustered by pairs for all. Reports are written from one half of "
        "the samples, answers come from the other.[/dim]"
    )


def _taken_in(settings: "Settings", run: str, path: Path) -> str:
    import asyncio

    from dokimasia.methods.fingerprints.by_hand import take_matches
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True, create=False, command="diagnose") as home:
        found, new = asyncio.run(take_matches(home, run, path))
    click.echo(f"took in {new} new decisions of {path.name} for {found.id}", err=True)
    return found.id


def _carried_out(settings: "Settings", asked: Mapping[str, Any], *, by_hand: bool) -> str:
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.plan import FingerprintRequest
    from dokimasia.methods.fingerprints.fingerprinting import match_fingerprints

    request = FingerprintRequest.model_validate(asked)
    result = run_to_end(
        lambda observer, stop: match_fingerprints(
            request, settings=settings, observer=observer, stop=stop, by_hand=by_hand
        ),
        settings,
    )
    return result.run


def _exported(settings: "Settings", id: str, summary: Mapping[str, Any], folder: Path) -> None:
    from dokimasia.methods.fingerprints.by_hand import write_bundle
    from dokimasia.methods.fingerprints.results import export_figures
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        bundle = write_bundle(home, get_run(home, id), folder)
    written = export_figures(summary, folder)
    click.echo(
        f"wrote {len(written)} files with figures, and {bundle.trials} trials for a reader, to {folder}", err=True
    )
    if bundle.kept:
        click.echo(f"{bundle.sheet} was there and is left as it is", err=True)
    click.echo(
        f"To match them by hand, save {bundle.sheet} under the reader's name, put A or B into report_1_is, and: "
        f"dokimasia diagnose {id} --fingerprint --matches NAME.csv --home {settings.home}",
        err=True,
    )


def _print_figures(out: Any, matcher: str, figures: Mapping[str, Any], models: Sequence[str]) -> None:
    from rich.markup import escape

    if not figures["trials"]:
        return
    out.print()
    if len(models) > 2:
        out.print(_heat_map(f"right of 100, matched by {escape(matcher)}", figures, models))
    out.print(_pairs(f"pairs, matched by {escape(matcher)}", figures))
    out.print(
        f"{figures['pairs_apart']} of {figures['n_pairs']} pairs are matched rightly in more than half of their trials, "
        f"{figures['pairs_surely_apart']} surely so"
    )


def _heat_map(title: str, figures: Mapping[str, Any], models: Sequence[str]) -> "Table":
    """Return models down, and across by number, each cell coloured by its accuracy."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    known = {frozenset((row["first"], row["second"])): row for row in figures["pairs"]}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0), title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column(" model ", overflow="fold")
    shown = models[:MOST_ACROSS]
    for number in range(1, len(shown) + 1):
        table.add_column(f"{number} ", justify="right", min_width=5, no_wrap=True)
    for number, model in enumerate(models, start=1):
        cells: list[Text] = []
        for other in shown:
            row = known.get(frozenset((model, other)))
            cells.append(Text("· " if model == other else "– ") if row is None else _cell(row["accuracy"]))
        table.add_row(str(number), f" {escape(model)} ", *cells)
    return table


def _cell(accuracy: float | None) -> "Text":
    from rich.text import Text

    if accuracy is None:
        return Text("– ")
    low, middle, high = (221, 116, 46), (236, 238, 241), (47, 111, 206)
    start, end, share = (low, middle, accuracy * 2) if accuracy < 0.5 else (middle, high, accuracy * 2 - 1)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    dark = accuracy > 0.85
    return Text(f"{100 * accuracy:.0f} ".rjust(5), style=f"{'white' if dark else 'black'} on rgb({red},{green},{blue})")


def _pairs(title: str, figures: Mapping[str, Any]) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for column in ("first", "second", "accuracy", "95 % interval", "matched", "failed", "with failures"):
        table.add_column(column, justify="left" if column in ("first", "second") else "right", overflow="fold")
    for row in [*figures["pairs"], {**figures, "first": "all", "second": ""}]:
        failed = ", ".join(f"{count} {kind}" for kind, count in row["failures"].items())
        known = row["accuracy"] is not None
        bounds = row["bounds"]
        table.add_row(
            escape(row["first"]),
            escape(row["second"]),
            f"{row['accuracy']:.0%}" if known else "–",
            f"{row['low']:.0%}–{row['high']:.0%}" if known else "–",
            f"{row['n']} of {row['trials']}",
            failed or "–",
            f"{bounds['low']:.0%}–{bounds['high']:.0%}" if failed else "",
        )
    return table
