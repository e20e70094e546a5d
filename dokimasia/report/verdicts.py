"""The decisions on an answer in words: whether it is right, what decided, and the criteria it does not address."""

from collections.abc import Mapping

from dokimasia.domain.judgement import Answered
from dokimasia.report.blocks import Tone
from dokimasia.report.sample_view import AnswerView, SampleView

MOST = 90
"""The number of shown characters of a final answer."""

NOT_STATED = "not stated"
"""The replacement for the score of a criterion that an answer does not address; it counts 1."""

NO_REASON = "no reason given"
"""The replacement for a reason that the judge did not give."""

DECIDED: Mapping[str, str] = {
    "judge": "decided by the judge",
    "person": "corrected by hand",
    "none": "no rule decides it",
    "unreadable": "the judge gave no verdict that can be read",
}
"""The words for deciders, or their failure, other than a rule."""


def addressed_scores(answer: AnswerView) -> list[int | None]:
    """Return an answer's scores by criterion, None for those that it does not address; empty if it was not scored."""
    if answer.judgement is None:
        return []
    judged = zip(answer.judgement.scores, answer.judgement.addressed, strict=True)
    return [score if is_addressed else None for score, is_addressed in judged]


def reasons_of(answer: AnswerView) -> list[tuple[int, int | None, str]]:
    """Return the number, the score and the judge's reason of each criterion; empty if the judge gave no reasons.

    A score is None if the answer does not address the criterion; a reason is empty if the judge gave none or a person
    corrected the score.
    """
    reasons = answer.judgement.reasons if answer.judgement else ()
    scored = zip(addressed_scores(answer), reasons, strict=False)
    return [(number, score, reason or "") for number, (score, reason) in enumerate(scored, start=1)]


def final_answer_text(answer: AnswerView) -> str:
    """Return the compared final answer, what decided whether it is right, and the judge's reason, if any.

    It is empty if nothing was decided.
    """
    final = answer.final
    if final is None or answer.verdict is None:
        return ""
    line = " ".join(final.answer.split())
    brief = line if len(line) <= MOST else f"{line[: MOST - 1]}…"
    where = "final answer" if final.stated else "no final answer on a line of its own, so all of it is compared:"
    why = f": {answer.verdict_reason}" if answer.verdict_reason else ""
    return f"{where} “{brief}” ({DECIDED.get(final.rule, 'by rule: ' + final.rule)}){why}"


def verdict_tone(verdict: Answered | None) -> Tone:
    """Return the tone in which a verdict is drawn."""
    tones: Mapping[Answered | None, Tone] = {"right": "good", "wrong": "bad"}
    return tones.get(verdict, "muted")


def correction_text(answer: AnswerView) -> str:
    """Return what a person corrected in an answer, with who and why; "" without a correction."""
    correction = answer.corrected
    if correction is None:
        return ""
    changes = ", ".join(
        f"{change.what}: {_said(change.before)} → {_said(change.after)}" for change in correction.changes
    )
    outdated = "; the answer was judged anew since, and this does not count any more: look again"
    return (
        f"corrected by {correction.who} on {correction.at[:10]}: {changes}: {correction.reason}"
        f"{'' if correction.stands else outdated}"
    )


def exclusion_text(view: SampleView) -> str:
    """Return who left a sample out of the figures and why; "" if nobody did."""
    exclusion = view.left_out
    if exclusion is None:
        return ""
    return f"left out of all figures by {exclusion.who} on {exclusion.at[:10]}: {exclusion.reason}"


def _said(value: str | int | None) -> str:
    return NOT_STATED if value == 0 else str(value)
