"""A board of models over the data sets of several runs: its figures, and how they are drawn and written."""

import csv
import io
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.wording import guarded, has_or_have, percentage
from dokimasia.report import figures, latex
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table, spans
from dokimasia.report.conclusions import as_paragraph
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Count, Coverage, Interval

Measure = Literal["accuracy", "score"]

MEASURED: dict[Measure, str] = {"accuracy": "strict accuracy", "score": "mean score"}
"""The measures in words."""

RESAMPLED = (
    "Intervals are at 95 %; that of a mean over data sets is made of theirs. Ranks are those that sign-flip tests of all pairs "
    "of models leave open, over the samples that both have, clustered by samples that share an image: with 95 % confidence "
    "all of them hold at once."
)


class BoardRun(Value):
    """A run on a board."""

    run: str
    judge: str = Field(description="empty without a judge")
    created_at: str


class BoardData(Value):
    """A data set of a board: runs that have samples in common are of one."""

    title: str
    n: Count = Field(description="samples of the largest run")
    runs: tuple[BoardRun, ...] = Field(description="the newest first")


class BoardEntry(Value):
    """A model's figure on a data set, from the run that has the most samples of it, and of equals the newest."""

    run: str
    n: Count = Field(description="samples of the model in this run")
    n_measured: Count = Field(description="samples with a value")
    coverage: Coverage
    figure: Interval


class OtherEntry(Value):
    """A model's figure on a data set from a run that does not count."""

    model: str
    data: str
    created_at: str
    entry: BoardEntry


class BoardModel(Value):
    """A model's figures on the data sets, by their titles, and its rank."""

    entries: dict[str, BoardEntry]
    mean: Interval | None = Field(
        description="mean of the figures of all data sets, each with the same weight; null where the model lacks one of them"
    )
    rank: Annotated[int, Field(ge=1)] | None = Field(
        description="by the mean, among models that have all data sets; equal means share a rank"
    )
    rank_interval: tuple[int, int] | None = Field(
        description="best and worst rank that the tests of all pairs leave open, for all models at once"
    )


class Board(Value):
    """Models over the data sets of several runs."""

    measure: Measure
    scale: tuple[float, float] = Field(description="lowest and highest value of every figure")
    method: str
    data: tuple[BoardData, ...]
    models: dict[str, BoardModel]
    others: tuple[OtherEntry, ...] = Field(
        description="figures from runs that do not count, by model, data set and time"
    )
    simulated: tuple[str, ...]
    warnings: tuple[str, ...]
    seed: int

    @property
    def ordered(self) -> dict[str, BoardModel]:
        """The models by rank and name, those without a rank last."""
        names = sorted(self.models, key=lambda name: (self.models[name].rank or len(self.models) + 1, name))
        return {name: self.models[name] for name in names}

    @property
    def ranked(self) -> dict[str, BoardModel]:
        """The models that have all data sets, by rank and name."""
        return {name: model for name, model in self.ordered.items() if model.rank is not None}

    @property
    def measured(self) -> str:
        """The measure in words."""
        return MEASURED[self.measure]


def board_blocks(board: Board) -> Iterator[Block]:
    """Yield the blocks of a board: its conclusion, the table, and figures of other runs."""
    if board.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph(as_paragraph(_conclusion(board)), "lead")
    yield from (Paragraph(warning, "warning") for warning in board.warnings)
    if lacking := _lacking(board):
        text = "Without a value, and so in no figure (a failed judgement is no score): " + "; ".join(lacking) + "."
        yield Paragraph(text, "warning")
    yield _table(board)
    if board.others:
        rows = [_other_row(board, index, other) for index, other in enumerate(board.others)]
        heads = [Column(title, numeric=False) for title in ("model", "data", "run", "date")]
        yield Table(
            [*heads, Column(board.measured), Column("samples")], rows, "Other runs of the same data", sortable=True
        )
        yield from (Paragraph(sentence, "note") for sentence in _counted(board))
        yield Paragraph("Whether a model changed between two runs: dokimasia diff FIRST SECOND.", "note")
    unit = (
        "in percent" if board.measure == "accuracy" else f"on the scale from {board.scale[0]:g} to {board.scale[1]:g}"
    )
    yield Paragraph(f"{board.measured.capitalize()} {unit}. {RESAMPLED}", "note")


def _counted(board: Board) -> Iterator[str]:
    """Yield a sentence for each run that counts although others have the same models and data: which, and why."""
    others: dict[tuple[str, str], list[BoardEntry]] = {}
    for other in board.others:
        others.setdefault((other.model, other.data), []).append(other.entry)
    models_by_reason: dict[tuple[str, str, str], list[str]] = {}
    for (model, data), entries in others.items():
        counted = board.models[model].entries.get(data) if model in board.models else None
        if counted is None:
            continue
        equal = [entry for entry in entries if entry.n == counted.n]
        reason = f"it has the most samples ({counted.n:,})"
        if equal:
            reason = f"it is the newest of {len(equal) + 1} with {figures.several(counted.n, 'sample')}"
        models_by_reason.setdefault((data, counted.run, reason), []).append(model)
    for (data, run, reason), models in models_by_reason.items():
        yield f"Of {figures.in_words(models)} on {data}, run {run} counts: {reason}."


def _other_row(board: Board, index: int, other: OtherEntry) -> list[Cell]:
    figure = _figure(board, other.entry.figure, f"/others/{index}/entry/figure")
    name, day = Span(other.model, "strong"), other.created_at[:10]
    return [name, other.data, other.entry.run, day, figure, f"{other.entry.n_measured}"]


def _lacking(board: Board) -> list[str]:
    """Return the number of missing samples for each figure that does not count all of them."""
    lacking: list[str] = []
    for name, model in board.ordered.items():
        for title, entry in model.entries.items():
            if missing := entry.n - entry.n_measured:
                lacking.append(f"{figures.several(missing, 'sample')} of {entry.n} of {name} on {title}")
    return lacking


def _conclusion(board: Board) -> list[Cell]:
    ranked = board.ranked
    where = board.data[0].title if len(board.data) == 1 else f"{len(board.data)} data sets"
    sentences: list[Cell] = []
    if not ranked:
        sentences.append(f"No model has results on all of {where}, so none is ranked.")
    elif len(ranked) == 1:
        name = next(iter(ranked))
        sentences.append((Span(name, "strong"), f" is the only model with results on {where}, so nothing is ranked."))
    else:
        first = [name for name, model in ranked.items() if model.rank_interval and model.rank_interval[0] == 1]
        best = [name for name, model in ranked.items() if model.rank == 1]
        verb = "has the" if len(best) == 1 else "share the"
        measured = f" {verb} highest {board.measured} on {where}: "
        sentences.append((Span(figures.in_words(best), "strong"), measured, *_sizes(board, best), "."))
        others = [name for name in first if name not in best]
        it_is = "It is" if len(best) == 1 else "They are"
        if others:
            may = figures.in_words(others) if len(others) <= 3 else f"{len(others)} other models"
            sentences.append(f"{it_is} not certain to be first: {may} may be as good or better.")
        elif len(best) == 1:
            sentences.append(f"It is first of {len(ranked)} models with 95 % confidence.")
        elif len(best) < len(ranked):
            worse = figures.several(len(ranked) - len(best), "other model")
            sentences.append(f"They are ahead of the {worse} with 95 % confidence.")
    incomplete = len(board.models) - len(ranked)
    if incomplete:
        lacking = figures.several(incomplete, "model lacks", "models lack")
        sentences.append(f"{lacking} at least one data set and {has_or_have(incomplete)} no rank.")
    return sentences


def _sizes(board: Board, names: list[str]) -> Iterator[str | Span]:
    """Yield the means of models with their units and intervals, separated by semicolons."""
    unit = " %" if board.measure == "accuracy" else ""
    for index, name in enumerate(names):
        number, *interval = spans(_figure(board, board.models[name].mean, f"/models/{name}/mean"))
        yield from ("; " if index else "", number, unit, *interval)


def _figure(board: Board, figure: Interval | None, place: str) -> Cell:
    """Return a figure with its interval, in percent for shares."""
    if figure is None:
        return figures.NOTHING
    if board.measure == "accuracy":
        text, limits = percentage(figure.mean, 1).removesuffix(" %"), figures.percent_bracketed(figure)
    else:
        write = f"{{:.{1 if board.scale[1] > 10 else 2}f}}".format
        text, limits = write(figure.mean).replace("-", figures.MINUS), figures.bracketed(figure, write)
    return (Span(text, "strong", place and f"{place}/mean", figure.mean), Span(limits, "muted"))


def _table(board: Board) -> Table:
    several = len(board.data) > 1
    columns = [Column("rank"), Column("model", numeric=False), Column("ranks that hold")]
    if several:
        meaning = "each data set counts the same, whatever its number of samples"
        columns.append(Column(f"unweighted mean of {len(board.data)}", meaning=meaning))
    columns += [Column(data.title) for data in board.data]
    rows: list[list[Cell]] = []
    for name, model in board.ordered.items():
        rank = figures.NOTHING if model.rank is None else f"{model.rank}"
        row: list[Cell] = [rank, Span(name, "strong"), ranks_text(model.rank_interval)]
        if several:
            row.append(_figure(board, model.mean, f"/models/{name}/mean"))
        for data in board.data:
            entry = model.entries.get(data.title)
            place = f"/models/{name}/entries/{data.title}/figure"
            row.append(figures.NOTHING if entry is None else _figure(board, entry.figure, place))
        rows.append(row)
    return Table(columns, rows, f"Board by {board.measured}", sortable=True)


def ranks_text(ranks: tuple[int, int] | None) -> str:
    """Return the best and the worst rank, such as `1–3`; a dash without ranks."""
    if ranks is None:
        return "–"
    if ranks[0] == ranks[1]:
        return f"{ranks[0]}"
    return f"{ranks[0]}–{ranks[1]}"


def as_csv(board: Board) -> str:
    """Return a board as CSV: a line for each model and data set, and one for its mean, with unrounded figures.

    A name that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["model", "data", "run", "samples", "n", "mean", "low", "high", "rank", "rank_best", "rank_worst"])
    for name, model in board.ordered.items():
        ranks = [model.rank, *(model.rank_interval or (None, None))]
        for title, entry in model.entries.items():
            figure = entry.figure
            ends = (figure.mean, figure.low, figure.high)
            writer.writerow(
                [guarded(name), guarded(title), entry.run, entry.n, entry.n_measured, *ends, None, None, None]
            )
        mean = model.mean
        if mean is not None:
            writer.writerow([guarded(name), "mean", "", "", "", mean.mean, mean.low, mean.high, *ranks])
    return out.getvalue()


def as_latex(board: Board) -> str:
    """Return a board as a LaTeX table for the package booktabs, with a caption that describes its figures."""
    unit = "percent" if board.measure == "accuracy" else f"{board.scale[0]:g} to {board.scale[1]:g}"
    return latex.as_latex(_table(board), f"{board.measured.capitalize()} ({unit}). {RESAMPLED}")
