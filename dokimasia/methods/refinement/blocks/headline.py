"""What comes first of a refinement: what was taken up, accuracies with their gains, and questions that can be guessed."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.methods.refinement.blocks.cells import (
    beside,
    gain_cells,
    gain_of,
    limits_cell,
    named,
    of,
    pieces_of,
    rate_cell,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table

_OPTIONS = (
    "Where two to five answers are possible, being told that one is wrong leaves one to four: guessing says how often a "
    "pick among these is right. A gain over again that guessing explains is no gain of the feedback's points."
)


def taken(summary: Mapping[str, Any]) -> Iterator[Block]:
    """Yield for each model what was taken up, and what had nothing that could be fed back."""
    for name, model in summary["models"].items():
        left = model["left_out"]
        final = figures.counts(model["answered"])
        text = f": {model['failed']:,} of {model['answers']:,} answers taken up (final answers: {final})"
        if left["answers"]:
            text += f"; {left['answers']:,} failed and had no point to feed back, and are in no arm"
        if left["atoms"]:
            text += f"; failed atoms not fed back: {figures.counts(left['atoms'])}"
        yield Paragraph((Span(name, "strong"), f"{text}; some withheld from {model['withheld_from']:,}."))


def mended(summary: Mapping[str, Any]) -> Table:
    """Return what came of each arm: accuracy before and after and its gains over retry and again, then the atoms."""
    columns = (
        *named("model", "strategy"),
        Column("answers", meaning="that were taken up; where some have no verdict, those that have one of all"),
        Column("right before"),
        Column("right after", meaning="accuracy with its 95 % interval"),
        Column("gain over retry", meaning="in percentage points, on the same answers, with its 95 % interval"),
        Column("gain over again", meaning="in percentage points, on the same answers, with its 95 % interval"),
        Column("score of what is spoken to, before", meaning="1 to 5, of the atoms that both answers speak to"),
        Column("score of what is spoken to, after", meaning="1 to 5, of the same atoms"),
        Column("score of all atoms, before", meaning="1 to 5"),
        Column("score of all atoms, after", meaning="1 to 5"),
    )
    rows: list[list[Cell]] = []
    for name, model in summary["models"].items():
        before = model["arms"]["original"]["accuracy"]
        for arm in summary["arms"][1:]:
            one, place = model["arms"][arm], figures.pointer("models", name, "arms", arm)
            cells: list[Cell] = [_gain(model["gains"], arm, control) for control in ("retry", "again")]
            for measure in ("spoken", "atoms"):
                scores = ((when, one[measure][when]) for when in ("before", "after"))
                cells += [
                    figures.NOTHING if found is None else figures.score(found["mean"], f"{place}/{measure}/{when}/mean")
                    for when, found in scores
                ]
            after = rate_cell(one["accuracy"], f"{place}/accuracy/share")
            limits = limits_cell(one["accuracy"], "", percent=True)
            rows.append(
                [
                    Span(name, "strong"),
                    arm,
                    of(one["n_known"], one["n"]),
                    figures.NOTHING if before is None else f"{100 * before['share']:.0f} %",
                    (*pieces_of(after), *beside(limits)),
                    *cells,
                ]
            )
    return Table(columns, rows, "What was mended in each arm")


def _gain(gains: Mapping[str, Any], arm: str, control: str) -> Cell:
    """What an arm gains in accuracy over another, with its interval."""
    return gain_cells(gain_of(gains.get(f"{arm} over {control}", {}).get("accuracy")), "", percent=True)[0]


def options(summary: Mapping[str, Any]) -> Iterator[Block]:
    """Yield accuracies and gains apart for questions with two to five possible answers."""
    rows: list[list[Cell]] = []
    for name, model in summary["models"].items():
        for kind, part in model["by_options"].items():
            for arm in summary["arms"][1:]:
                one, place = part["arms"][arm], figures.pointer("models", name, "by_options", kind, "arms", arm)
                cells = [_gain(part["gains"], arm, control) for control in ("retry", "again")]
                guess = part.get("guessing")
                rows.append(
                    [
                        Span(name, "strong"),
                        kind,
                        arm,
                        of(one["n_known"], one["n"]),
                        rate_cell(one["accuracy"], f"{place}/accuracy/share"),
                        *cells,
                        figures.NOTHING if guess is None else f"{100 * guess:.0f} %",
                    ]
                )
    if any("two to five" in model["by_options"] for model in summary["models"].values()):
        columns = [*named("model", "possible answers", "strategy"), Column("answers"), Column("right after")]
        columns += [Column("gain over retry"), Column("gain over again")]
        columns += [Column("guessing", meaning="how often a pick among the answers that are left is right")]
        yield Paragraph(_OPTIONS, "note")
        yield Table(columns, rows, "Accuracy by how many answers are possible")
