"""The passport of a judge, made from probes and checked; and a run's rates, corrected for what its judge misses."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import EXISTING_FILE, FILE, common, console, grid, json_option, print_json, reading
from dokimasia.report.figures import bracketed, several

if TYPE_CHECKING:
    from rich.table import Table

    from dokimasia.domain.passport import Passport
    from dokimasia.settings import Settings


@click.command()
@click.argument("judge", metavar="JUDGE|FILE")
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A probe to make it from; by default all finished ones that asked JUDGE.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the halves and intervals.")
@click.option("-o", "--output", type=FILE, help="Also write the passport to this file, for --passport.")
@json_option
@with_backend
def passport_command(
    backend: Backend, judge: str, runs: tuple[str, ...], seed: int, output: Path | None, as_json: bool
) -> None:
    """Make the passport of JUDGE: what probes measured of it, with the prompts, the data and a SHA-256 of it all.

    JUDGE is its name as the probes show it, such as J, J@low or J+tools. With a FILE in its place the passport in it is shown,
    and refused (exit code 2) where it is not as it was made. The hash shows an edit by hand and claims nothing about who
    made the file.
    """
    from dokimasia import operations
    from dokimasia.domain.passport import Passport
    from dokimasia.people.passports import read_passport, write_passport

    path = Path(judge)
    if path.is_file() or path.suffix == ".json":
        if runs or output is not None:
            raise click.UsageError(f"{path} is a passport already: leave out --run and -o")
        _print_passport(read_passport(path), as_json=as_json)
        return
    reply = backend.call(operations.passports.one_passport, judge=judge, run=list(runs) or None, seed=seed)
    passport = Passport.model_validate(reply)
    _print_passport(passport, as_json=as_json)
    if output is not None:
        write_passport(passport, output)
        click.echo(f"wrote {output}. Use it: dokimasia evaluate DATA --judge {judge} --passport {output} …", err=True)


def _print_passport(passport: "Passport", *, as_json: bool) -> None:
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.people.passports.blocks import blocks_of

    if as_json:
        print_json(passport.model_dump(mode="json"))
    else:
        print_blocks(blocks_of(passport))


NOTHING = "–"


def _print_schema(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from dokimasia.people.correction import schema

        print_json(schema())
        ctx.exit()


@click.command()
@click.argument("run")
@click.option("--passport", type=EXISTING_FILE, help="The passport of the run's judge (see: dokimasia passport).")
@click.option(
    "--mix",
    type=EXISTING_FILE,
    help="With --passport: the mix of kinds of error, as JSON with shares or counts by kind.",
)
@click.option(
    "--human", type=EXISTING_FILE, help="People's labels of a random draw: annotations, 1 for right and 0 for wrong."
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of --json, and end.",
)
@json_option
@common
def correct_command(
    settings: "Settings", run: str, passport: Path | None, mix: Path | None, human: Path | None, as_json: bool
) -> None:
    """Correct the rates of RUN, an evaluation or an audit, for its judge; as judged and corrected, side by side.

    By --passport: the judge's sensitivity, weighted by the mix of kinds of error, and its specificity (Rogan and Gladen). By
    --human: labels of a random draw of answers and the judge's decisions on all (power-tuned prediction-powered inference).
    What cannot be corrected says why.
    """
    from dokimasia.people.correction import correct, is_correctable

    with reading(settings, run, is_correctable) as (home, row):
        corrected = correct(home, row, passport=passport, human=human, mix=mix)
    figures = corrected.model_dump(mode="json", exclude_defaults=True)
    if as_json:
        print_json(figures)
        return
    out = console()
    for sentence in _drawn(figures):
        out.print(sentence)


def _drawn(figures: Mapping[str, Any]) -> "Iterator[Table | str]":
    """Yield what is printed: what it was corrected by, a table a measure, the pairs, what was refused, and warnings."""
    from dokimasia.report.data import SIMULATED_NOTE

    if figures["simulated"]:
        yield f"[yellow]{SIMULATED_NOTE} ({escape(', '.join(figures['simulated']))})[/yellow]"
    yield f"[bold]run {figures['run']}[/bold], judged by {escape(figures['judge']) or 'rules alone'}"
    passport, mix, human = figures["passport"], figures["mix"], figures["human"]
    if passport is not None:
        for name, specificity in passport["specificity"].items():
            sensitivity = passport["sensitivity"].get(name)
            sensitivity_text = f", sensitivity {_percent(sensitivity, 'share')}" if sensitivity else ""
            of = figures["measures"][name]["what"]
            yield f"passport {escape(passport['file'])}, {of}{sensitivity_text}, specificity {_percent(specificity, 'share')}"
    if mix is not None:
        shares = ", ".join(f"{escape(name)} {share:.0%}" for name, share in mix["shares"].items())
        counted = f", counted among {several(mix['errors'], 'error')}" if mix["errors"] is not None else ""
        yield f"mix of errors by {escape(mix['source'])}{counted}: {shares}"
    if human is not None:
        drawn = "" if human["drawn"] in figures["warnings"] else f", {human['drawn']}"
        yield (
            f"{several(human['labels'], 'label')} on {several(human['samples'], 'sample')} by "
            f"{several(human['people'], 'person', 'people')}{drawn}"
        )
    for measure in figures["measures"].values():
        yield _rates(measure, figures)
        if measure["pairs"]:
            yield _pairs(measure, figures)
        yield from (f"[dim]{escape(line)}[/dim]" for line in _refusals(measure, figures["warnings"]))
    for line in figures["warnings"]:
        yield f"[yellow]warning: {escape(line)}[/yellow]"


def _rates(measure: Mapping[str, Any], figures: Mapping[str, Any]) -> "Table":
    by_passport, by_labels = figures["passport"] is not None, figures["human"] is not None
    table = grid(
        measure["what"],
        "answers",
        "by rule",
        "as judged",
        *(("by passport", "over mixes") if by_passport else ()),
        *(("by labels", "labels alone", "power") if by_labels else ()),
    )
    for name, rates in measure["models"].items():
        cells = [
            escape(name),
            f"{rates['raw']['n']} of {rates['answers']}",
            str(rates["by_rule"]),
            _percent(rates["raw"], "share") + _up_to(rates["raw"]),
        ]
        if by_passport:
            over = rates["over_mixes"]
            cells += [
                _percent(rates["by_passport"], "rate"),
                NOTHING if over is None or over["low"] == over["high"] else f"{over['low']:.0%} to {over['high']:.0%}",
            ]
        if by_labels:
            found = rates["by_labels"]
            power = NOTHING if found["power"] is None else f"{found['power']:.2f}"
            cells += [_percent(found, "rate"), _percent(found["alone"], "rate"), power]
        table.add_row(*cells)
    return table


def _up_to(raw: Mapping[str, Any]) -> str:
    """Say what a strict accuracy is up to if all undecided answers are right; "" where none is undecided."""
    return f", up to {raw['upper']:.0%}" if raw["n_undecided"] else ""


def _pairs(measure: Mapping[str, Any], figures: Mapping[str, Any]) -> "Table":
    ways = {"raw": "as judged"}
    ways |= {"by_passport": "by passport"} if figures["passport"] is not None else {}
    ways |= {"by_labels": "by labels"} if figures["human"] is not None else {}
    table = grid("second less first, in points", "n", *ways.values())
    for pair in measure["pairs"]:
        cells = [_percent(pair[way], "difference", signed=True) for way in ways]
        table.add_row(f"{escape(pair['second'])} less {escape(pair['first'])}", str(pair["n"]), *cells)
    return table


def _refusals(measure: Mapping[str, Any], refusals_shown: Collection[str]) -> Iterator[str]:
    """Yield what was refused, each reason once with the models that it is of; without what is told elsewhere."""
    of: dict[tuple[str, str], list[str]] = {}
    for name, rates in measure["models"].items():
        for way, label in (("by_passport", "by passport"), ("by_labels", "by labels")):
            if rates[way] is not None and rates[way]["refused"] in refusals_shown:
                continue
            if rates[way] is not None and rates[way]["refused"]:
                of.setdefault((label, rates[way]["refused"]), []).append(name)
            elif rates[way] is not None and rates[way].get("no_interval"):
                of.setdefault((f"{label}, interval", rates[way]["no_interval"]), []).append(name)
    for (label, reason), names in of.items():
        some = "" if len(names) == len(measure["models"]) else f" for {', '.join(names)}"
        yield f"{label}: none{some}: {reason}"


def _percent(rate: Mapping[str, Any], name: str, *, signed: bool = False) -> str:
    """Return a rate with its interval in percent, or that there is none."""
    value = rate[name]
    if value is None:
        return "[dim]none[/dim]"
    sign = "+" if signed else ""
    text = f"{100 * value:{sign}.1f}" + ("" if signed else "%")
    return (text + escape(bracketed(rate, lambda end: f"{100 * end:{sign}.0f}"))).replace("-", "−")
