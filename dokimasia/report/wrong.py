"""The answers of a run that were judged wrong, or those with the lowest scores: their list, and how it is drawn."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Count
from dokimasia.report.figures import number, several

Basis = Literal["verdict", "score"]
"""What an answer is listed by: the verdict that it is wrong or, in a run without verdicts, its score."""

MOST_SHOWN = 90
"""The maximum number of characters of an answer, and of a reason, in the table."""


class WrongAnswer(Value):
    """An answer of a model that was judged wrong, or whose score is among the lowest."""

    sample: str
    model: str = Field(description="with its arm: `NAME#blind` for the arm without images")
    repeat: Count
    score: float | None = Field(description="on the scale of the list; null without a judge")
    answer: str = Field(description="its beginning; empty if the run has no text of it")
    expected: str | None = Field(description="the reference answer; null without one")
    reason: str | None = Field(description="why it was judged so; null where nothing says")


class WrongAnswers(Value):
    """The answers of a run that were judged wrong, in the order of its data, or those with the lowest scores, lowest first.

    Corrections by people count, and samples that people left out do not.
    """

    run: str
    by: Basis = Field(
        description="`verdict`: answers that are wrong; `score`: a run without verdicts, its lowest scores"
    )
    wrong: Count | None = Field(description="answers that are wrong, whether listed or not; null by score")
    n: Count = Field(description="answers that are right, wrong or undecided; by score, answers with a score")
    undecided: Count = Field(description="of n, answers of which it is unknown whether they are right; 0 by score")
    failed: Count = Field(description="further answers, without a judgement")
    measure: str = Field(description="the name of the score")
    scale: tuple[float, float] = Field(description="the lowest and the highest possible score")
    simulated: tuple[str, ...]
    answers: tuple[WrongAnswer, ...]


def wrong_blocks(wrong: WrongAnswers) -> Iterator[Block]:
    """Yield the blocks of a list of wrong answers: their number, and a table of those that are listed."""
    if wrong.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph(_conclusion(wrong), "lead")
    if not wrong.answers:
        return
    has_scores = any(answer.score is not None for answer in wrong.answers)
    has_reasons = any(answer.reason for answer in wrong.answers)
    has_repeats = any(answer.repeat for answer in wrong.answers)
    columns = [Column("sample", numeric=False), Column("model", numeric=False)]
    if has_repeats:
        columns.append(Column("repeat"))
    if has_scores:
        columns.append(Column(wrong.measure))
    columns.append(Column("answer", numeric=False))
    if has_reasons:
        columns.append(Column("reason", numeric=False))
    digits = 1 if wrong.scale[1] > 10 else 2
    rows: list[list[Cell]] = []
    for answer in wrong.answers:
        row: list[Cell] = [answer.sample, Span(answer.model, "strong")]
        if has_repeats:
            row.append(f"{answer.repeat}")
        if has_scores:
            row.append(number(answer.score, digits=digits))
        row.append(_beginning(answer.answer))
        if has_reasons:
            row.append(_beginning(answer.reason or ""))
        rows.append(row)
    yield Table(columns, rows, "Wrong answers" if wrong.by == "verdict" else "Lowest scores")
    yield Paragraph(f"An answer with all that was judged of it: dokimasia show {wrong.run} --sample ID.", "note")


def _beginning(text: str) -> str:
    if len(text) > MOST_SHOWN:
        return f"{text[:MOST_SHOWN].rstrip()} …"
    return text or "–"


def _conclusion(wrong: WrongAnswers) -> str:
    answers = several(wrong.n, "answer")
    if wrong.wrong is None:
        text = f"No answer of this run has a verdict. These are the {len(wrong.answers):,} lowest of {answers} with a score"
        if not wrong.answers:
            text = "No answer has a score"
    elif not wrong.n:
        text = "No answer was judged"
    else:
        text = f"{wrong.wrong:,} of {answers} are wrong"
        if wrong.undecided:
            text += f", and of {wrong.undecided:,} it is undecided"
        if len(wrong.answers) < wrong.wrong:
            text += f"; the first {len(wrong.answers):,} follow, and --limit lists more"
    if wrong.failed:
        text += f"; {several(wrong.failed, 'more answer')} failed"
    return f"{text}."
