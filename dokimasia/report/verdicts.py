"""The decisions on an answer in words: whether it is right, what decided so, and the criteria that it does not address."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report.blocks import Tone

MOST = 90
"""Characters of a final answer that are shown."""

NOT_STATED = "not stated"
"""Replaces the score of a criterion that an answer does not address; it counts 1."""

DECIDED: Mapping[str, str] = {
    "judge": "the judge says so",
    "person": "corrected by hand",
    "none": "no rule decides it",
    "unreadable": "the judge gave no verdict that can be read",
}
"""The words for what decided, or failed to, other than a rule."""


def addressed_scores(answer: Mapping[str, Any]) -> list[int | None]:
    """Return an answer's scores by criterion, None for those that it does not address; empty if it was not scored."""
    judgement: Mapping[str, Any] = answer["judgement"] or {"scores": ()}
    scores: Sequence[int] = judgement["scores"]
    addressed: Sequence[bool] = judgement.get("stated") or [True] * len(scores)
    return [score if is_addressed else None for score, is_addressed in zip(scores, addressed, strict=True)]


def final_answer_text(answer: Mapping[str, Any]) -> str:
    """Return the final answer that was compared, and what decided whether it is right; "" if nothing was decided."""
    final: Mapping[str, Any] | None = answer["final"]
    if final is None or answer["verdict"] is None:
        return ""
    line = " ".join(final["answer"].split())
    brief = line if len(line) <= MOST else f"{line[: MOST - 1]}…"
    where = "final answer" if final["stated"] else "no final answer on a line of its own, so all of it is compared:"
    return f"{where} “{brief}” ({DECIDED.get(final['rule'], 'by rule: ' + final['rule'])})"


def verdict_tone(answer: Mapping[str, Any]) -> Tone:
    """Return the tone in which a verdict is drawn."""
    tones: Mapping[str, Tone] = {"right": "good", "wrong": "bad"}
    return tones.get(answer["verdict"], "muted")


def correction_text(answer: Mapping[str, Any]) -> str:
    """Return what a person corrected in an answer, who and why; "" if nobody did."""
    correction: Mapping[str, Any] | None = answer.get("corrected")
    if correction is None:
        return ""
    changes = ", ".join(
        f"{change['what']}: {_said(change['from'])} → {_said(change['to'])}" for change in correction["changes"]
    )
    anew = (
        ""
        if correction["stands"]
        else "; the answer was judged anew since, and this does not count any more: look again"
    )
    return f"corrected by {correction['who']} on {correction['at'][:10]}: {changes}: {correction['reason']}{anew}"


def exclusion_text(view: Mapping[str, Any]) -> str:
    """Return who left a sample out of the figures and why; "" if nobody did."""
    exclusion: Mapping[str, Any] | None = view.get("left_out")
    if exclusion is None:
        return ""
    return f"left out of all figures by {exclusion['who']} on {exclusion['at'][:10]}: {exclusion['reason']}"


def _said(value: str | int | None) -> str:
    return NOT_STATED if value == 0 else str(value)
