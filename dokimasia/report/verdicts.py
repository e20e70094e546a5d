"""What was decided of an answer, in words: whether it is right and by what, and of which criteria it does not speak."""

from collections.abc import Mapping

from dokimasia.domain.judgement import Answered
from dokimasia.report.blocks import Tone
from dokimasia.report.sample_view import AnswerView, SampleView

MOST = 90
"""Characters of a final answer that are shown."""

NOT_STATED = "not stated"
"""Stands in place of a score where an answer does not speak of a criterion; it counts 1."""

DECIDED: Mapping[str, str] = {
    "judge": "the judge says so",
    "person": "corrected by hand",
    "none": "no rule decides it",
    "unreadable": "the judge gave no verdict that can be read",
}
"""What decided, or failed to, where that was no rule."""


def spoken_scores(answer: AnswerView) -> list[int | None]:
    """Return an answer's scores by criterion, None for what it does not speak of; nothing where it was not scored."""
    if answer.judgement is None:
        return []
    judged = zip(answer.judgement.scores, answer.judgement.spoken_to, strict=True)
    return [score if is_addressed else None for score, is_addressed in judged]


def final_of(answer: AnswerView) -> str:
    """Return what was compared of an answer, and what decided whether it is right; "" where there was nothing to decide."""
    final = answer.final
    if final is None or answer.verdict is None:
        return ""
    line = " ".join(final.answer.split())
    brief = line if len(line) <= MOST else f"{line[: MOST - 1]}…"
    where = "final answer" if final.stated else "no final answer on a line of its own, so all of it is compared:"
    return f"{where} “{brief}” ({DECIDED.get(final.rule, 'by rule: ' + final.rule)})"


def verdict_tone(verdict: Answered | None) -> Tone:
    """Return how a verdict is drawn."""
    tones: Mapping[Answered | None, Tone] = {"right": "good", "wrong": "bad"}
    return tones.get(verdict, "muted")


def corrected_of(answer: AnswerView) -> str:
    """Return what a person corrected of an answer, who and why; "" where nobody did."""
    correction = answer.corrected
    if correction is None:
        return ""
    changes = ", ".join(
        f"{change.what}: {_said(change.before)} → {_said(change.after)}" for change in correction.changes
    )
    anew = "; the answer was judged anew since, and this does not count any more: look again"
    return (
        f"corrected by {correction.who} on {correction.at[:10]}: {changes}: {correction.reason}"
        f"{'' if correction.stands else anew}"
    )


def left_out_of(view: SampleView) -> str:
    """Return who left a sample out of the figures and why; "" where nobody did."""
    exclusion = view.left_out
    if exclusion is None:
        return ""
    return f"left out of all figures by {exclusion.who} on {exclusion.at[:10]}: {exclusion.reason}"


def _said(value: str | int | None) -> str:
    return NOT_STATED if value == 0 else str(value)
