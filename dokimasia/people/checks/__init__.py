"""Checks by people: golden captions and rubrics are accepted, edited or rejected, and perturbations are labelled."""

from typing import TYPE_CHECKING, Any

from dokimasia.people.checks.blocks import label_blocks, reason_blocks
from dokimasia.people.checks.checking import (
    checked,
    decide,
    keep_decision,
    nothing_to_check,
    open_for_people,
    pending_checks,
    waits,
)
from dokimasia.people.checks.figures import reason_figures
from dokimasia.people.checks.labels import label_figures, labelled, labels_of
from dokimasia.people.checks.questions import (
    Given,
    answer,
    answer_all,
    answered_since,
    draft_of,
    keep_draft,
    samples_asked,
    show_question,
    take_in_answers,
    undo,
    waiting_questions,
)
from dokimasia.people.checks.queue import (
    ANYBODY,
    Waiting,
    is_due,
    item_of,
    last_decision,
    next_due,
    review_items,
    review_queue,
    shown_item,
    take_back,
    without_others,
)
from dokimasia.people.checks.shape import LabelFigures, ReasonFigures
from dokimasia.people.checks.standings import all_standings, checked_texts

if TYPE_CHECKING:
    from dokimasia.runs.work import Job


async def open_checks(job: "Job[Any]") -> None:
    """Open a check for every result of a run; `Method.ended` of methods whose results wait for people."""
    from dokimasia.people.checks.threads import open_threads

    await open_threads(job.home, job.services.saver, job.run.id)


__all__ = [
    "ANYBODY",
    "Given",
    "LabelFigures",
    "ReasonFigures",
    "Waiting",
    "all_standings",
    "answer",
    "answer_all",
    "answered_since",
    "checked",
    "checked_texts",
    "decide",
    "draft_of",
    "is_due",
    "item_of",
    "keep_decision",
    "keep_draft",
    "label_blocks",
    "label_figures",
    "labelled",
    "labels_of",
    "last_decision",
    "next_due",
    "nothing_to_check",
    "open_checks",
    "open_for_people",
    "pending_checks",
    "reason_blocks",
    "reason_figures",
    "review_items",
    "review_queue",
    "samples_asked",
    "show_question",
    "shown_item",
    "take_back",
    "take_in_answers",
    "undo",
    "waiting_questions",
    "waits",
    "without_others",
]
