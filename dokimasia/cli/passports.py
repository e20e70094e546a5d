"""`dokimasia passport` makes or checks a judge's passport; `correct` corrects a run's rates for its judge's errors."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import (
    EXISTING_FILE,
    FILE,
    common,
    json_option,
    print_json,
    read_ratings,
    reading,
)
from dokimasia.domain.wording import percentage
from dokimasia.report.figures import (
    MINUS,
    bracketed,
    measured_share,
    percent_bracketed,
    percent_limits,
    rate_text,
    several,
)

if TYPE_CHECKING:
    from dokimasia.domain.passport import Passport
    from dokimasia.people.correction.shape import CorrectedMeasure, CorrectionFigures
    from dokimasia.report.blocks import Block, Cell, Span, Table
    from dokimasia.report.fields import Limited
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


def _share(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    """Return a share of 0 to 1 from text such as 5% or 0.05."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise click.BadParameter(f"{text!r} is no share of the scale above 0% and below 100%, such as 5%")
    return value


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
    "--by-category",
    is_flag=True,
    help="With --human: the labels are a random draw of each category, not of all answers.",
)
@click.option(
    "--width",
    metavar="SHARE",
    callback=_share,
    help="With --human: print how many labels give intervals of this width, such as 5%.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of the --json output and exit.",
)
@json_option
@common
def correct_command(
    settings: "Settings",
    run: str,
    passport: Path | None,
    mix: Path | None,
    human: Path | None,
    by_category: bool,
    width: float | None,
    as_json: bool,
) -> None:
    """Correct the rates of RUN, an evaluation or an audit, for its judge; as judged and corrected, side by side.

    By --passport: the judge's sensitivity, weighted by the mix of kinds of error, and its specificity (Rogan and Gladen). By
    --human: labels of a random draw of answers and the judge's decisions on all (power-tuned prediction-powered inference);
    of an evaluation also people's scores from 1 to 5. What cannot be corrected says why.
    """
    from dokimasia.people.correction import correct, is_correctable

    with reading(settings, run, is_correctable) as (home, row):
        figures = correct(home, row, passport=passport, human=human, mix=mix, by_category=by_category, width=width)
    if human is not None:
        read_ratings(human)
    if as_json:
        print_json(figures.model_dump(mode="json", exclude_defaults=True))
        return
    from dokimasia.cli.drawing import print_blocks

    print_blocks(_blocks(figures))


def _blocks(figures: "CorrectionFigures") -> "Iterator[Block]":
    """Yield the paragraphs and tables to print: conclusion, sources of the correction, rates, pairs, and warnings."""
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.report.data import SIMULATED_NOTE

    if figures.simulated:
        yield Paragraph(f"{SIMULATED_NOTE} ({', '.join(figures.simulated)})", "warning")
    yield Paragraph((Span(f"run {figures.run}", "strong"), f", judged by {figures.judge or 'rules alone'}"))
    yield Paragraph(" ".join(figures.conclusion))
    yield from map(Paragraph, _sources(figures))
    yield from _scores(figures)
    for measure in figures.measures.values():
        yield _rates(measure, figures)
        if measure.pairs:
            yield _pairs(measure, figures)
        yield from map(Paragraph, _robustness(measure))
        for line in _refusals(measure, figures.warnings):
            yield Paragraph(line, "note")
    for line in figures.warnings:
        yield Paragraph(f"warning: {line}", "warning")


def _sources(figures: "CorrectionFigures") -> Iterator[str]:
    """Yield a line each on passport, mix of errors and labels."""
    passport, mix, human = figures.passport, figures.mix, figures.human
    if passport is not None:
        for name, specificity in passport.specificity.items():
            sensitivity = passport.sensitivity.get(name)
            sensitivity_text = f", sensitivity {_percent_text(sensitivity.share, sensitivity)}" if sensitivity else ""
            rates_text = f"{sensitivity_text}, specificity {_percent_text(specificity.share, specificity)}"
            yield f"passport {passport.file}, {figures.measures[name].what}{rates_text}"
    if mix is not None:
        shares = ", ".join(f"{name} {percentage(share)}" for name, share in mix.shares.items())
        count_text = f", counted among {several(mix.errors, 'error')}" if mix.errors is not None else ""
        yield f"mix of errors by {mix.source}{count_text}: {shares}"
    if human is not None:
        draw_text = "" if human.drawn in figures.warnings else f", {human.drawn}"
        yield (
            f"{several(human.labels, 'label')} on {several(human.samples, 'sample')} by "
            f"{several(human.people, 'person', 'people')}{draw_text}"
        )
        if human.by_majority:
            yield f"{several(human.by_majority, 'answer')} on which people differ settled by the majority of three or more"
        if human.ruled:
            yield f"{several(human.ruled, 'label')} of answers that rules decided, which change nothing"


BY_LABELS = ("by labels", "labels alone", "weight of the judge", "certain", "labels")
"""The columns of a correction by labels; `labels` are those of answers that no rule decided, and how many are missing."""


def _table(about: str, name: str, figures: "Sequence[str]", rows: "Sequence[Sequence[Cell]]") -> "Table":
    """Return a table of figures by name; `about` is its caption, and `name` the title of its first column."""
    from dokimasia.report.blocks import Column, Table

    return Table([Column(name, numeric=False), *map(Column, figures)], rows, about)


def _rates(measure: "CorrectedMeasure", figures: "CorrectionFigures") -> "Table":
    titles = (
        "answers",
        "by rule",
        "as judged",
        *(("by passport", "over mixes") if figures.passport is not None else ()),
        *(BY_LABELS if figures.human is not None else ()),
    )
    rows: list[list[Cell]] = []
    for name, rates in measure.models.items():
        raw = rates.raw
        up_to = (", up to ", measured_share(raw.upper)) if raw.n_undecided else ()
        cells: list[Cell] = [
            name,
            f"{raw.n} of {rates.answers}",
            str(rates.by_rule),
            (*_percent(raw.share, raw), *up_to),
        ]
        if rates.by_passport is not None:
            mixes = rates.over_mixes
            cells += [
                _percent(rates.by_passport.rate, rates.by_passport),
                NOTHING if mixes is None or mixes.low == mixes.high else f"{percent_limits(mixes, ' to ')} %",
            ]
        if rates.by_labels is not None:
            labelled = rates.by_labels
            missing = f", {labelled.missing} missing" if labelled.missing else ""
            missing += _needed(labelled.needed, figures.width) if labelled.rate is not None else ""
            cells += [
                _percent(labelled.rate, labelled),
                _percent(labelled.alone.rate, labelled.alone),
                NOTHING if labelled.weight is None else f"{labelled.weight:.2f}",
                NOTHING if labelled.certain is None else f"{percent_limits(labelled.certain, ' to ')} %",
                f"{labelled.labels} of {rates.raw.n - rates.by_rule}{missing}",
            ]
        rows.append(cells)
    return _table(f"Share of {measure.what}", measure.what, titles, rows)


def _needed(labels: int | None, width: float | None) -> str:
    """Return a note on how many labels an interval of `width` needs, starting with a comma; empty without a width."""
    if width is None:
        return ""
    return f", {100 * width:.3g} % wide: {'not by labels' if labels is None else f'{labels:,}'}"


def _scores(figures: "CorrectionFigures") -> "Iterator[Block]":
    """Yield the tables of mean scores by people's scores, and why some are refused."""
    from dokimasia.report.blocks import Paragraph

    scores = figures.scores
    if scores is None:
        return
    yield Paragraph(f"{several(scores.labels, 'answer')} scored by {several(scores.people, 'person', 'people')}")
    titles = ("answers", "as judged", "by labels", "labels alone", "weight of the judge", "labels")
    rows: list[list[Cell]] = []
    for name, estimate in scores.models.items():
        missing = f", {estimate.missing} missing" if estimate.missing else ""
        needed = _needed(estimate.needed, figures.width) if estimate.score is not None else ""
        rows.append(
            [
                name,
                str(estimate.answers),
                NOTHING if estimate.judged is None else f"{estimate.judged:.2f}",
                _points(estimate.score, estimate),
                _points(estimate.alone.score, estimate.alone),
                NOTHING if estimate.weight is None else f"{estimate.weight:.2f}",
                f"{estimate.labels}{missing}{needed}",
            ]
        )
    yield _table("Mean scores", "mean score", titles, rows)
    if scores.pairs:
        rows = []
        for pair in scores.pairs:
            judged = NOTHING if pair.judged is None else f"{pair.judged:+.2f}".replace("-", MINUS)
            name = f"{pair.second} {MINUS} {pair.first}"
            rows.append([name, str(pair.n), judged, _points(pair.difference, pair, signed=True)])
        title = "second minus first, in points of 1 to 5"
        yield _table("Every two models", title, ("n", "as judged", "by labels"), rows)
    for reason in dict.fromkeys(estimate.refused for estimate in scores.models.values() if estimate.refused):
        names = ", ".join(name for name, estimate in scores.models.items() if estimate.refused == reason)
        yield Paragraph(f"by labels: none for {names}: {reason}", "note")


def _points(value: float | None, ends: "Limited", *, signed: bool = False) -> "tuple[str | Span, ...]":
    """Return a score, or a difference of two, with its interval, or `none`."""
    sign = "+" if signed else ""
    return _limited(value, ends, lambda score: f"{score:{sign}.2f}", lambda end: f"{end:{sign}.2f}")


def _limited(
    value: float | None, ends: "Limited", write: Callable[[float], str], write_end: Callable[[float], str]
) -> "tuple[str | Span, ...]":
    """Return a figure with its interval, or `none`."""
    from dokimasia.report.blocks import Span

    if value is None:
        return (Span("none", "muted"),)
    return (write(value).replace("-", MINUS), Span(bracketed(ends, write_end).replace("-", MINUS), "muted"))


def _pairs(measure: "CorrectedMeasure", figures: "CorrectionFigures") -> "Table":
    by_passport = ("by passport",) if figures.passport is not None else ()
    by_labels = ("by labels",) if figures.human is not None else ()
    rows: list[list[Cell]] = []
    for pair in measure.pairs:
        differences = [
            difference for difference in (pair.raw, pair.by_passport, pair.by_labels) if difference is not None
        ]
        cells = [_percent(difference.difference, difference, signed=True) for difference in differences]
        rows.append([f"{pair.second} {MINUS} {pair.first}", str(pair.n), *cells])
    titles = ("n", "as judged", *by_passport, *by_labels)
    return _table("Every two models", "second minus first, in points", titles, rows)


def _robustness(measure: "CorrectedMeasure") -> Iterator[str]:
    """Yield a line for each conclusion by passport: how much the judge's rates may differ before it changes."""
    for name, rates in measure.models.items():
        yield from (f"{name}: {robustness.text}" for robustness in rates.robustness)
    for pair in measure.pairs:
        yield from (robustness.text for robustness in pair.robustness)


def _refusals(measure: "CorrectedMeasure", refusals_shown: Collection[str]) -> Iterator[str]:
    """Yield the reasons for refused corrections, each once with its models, except those shown as warnings."""
    models_by_reason: dict[tuple[str, str], list[str]] = {}
    for name, rates in measure.models.items():
        for label, rate in (("by passport", rates.by_passport), ("by labels", rates.by_labels)):
            if rate is None or rate.refused in refusals_shown:
                continue
            if rate.refused:
                models_by_reason.setdefault((label, rate.refused), []).append(name)
            elif rate.no_interval:
                models_by_reason.setdefault((f"{label}, interval", rate.no_interval), []).append(name)
    for (label, reason), names in models_by_reason.items():
        some = "" if len(names) == len(measure.models) else f" for {', '.join(names)}"
        yield f"{label}: none{some}: {reason}"


def _percent(value: float | None, ends: "Limited", *, signed: bool = False) -> "tuple[str | Span, ...]":
    """Return a rate with its interval in percent, or `none`."""
    if signed:
        return _limited(value, ends, lambda rate: f"{100 * rate:+.1f}", lambda end: f"{100 * end:+.0f}")
    from dokimasia.report.blocks import Span

    if value is None:
        return (Span("none", "muted"),)
    return (measured_share(value), Span(percent_bracketed(ends), "muted"))


def _percent_text(value: float | None, ends: "Limited") -> str:
    """Return a rate with its interval in percent as text, or `none`."""
    if value is None:
        return "none"
    return rate_text(value, ends)
