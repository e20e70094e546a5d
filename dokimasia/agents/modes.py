"""The roles of an error analysis: failed points are noted, notes sorted under modes, modes merged, points assigned to modes.

None of them learns a score, the author of an answer, or the group of a point. Each first reply is parsed strictly; in
the reply to a repair request, faulty parts are dropped and the rest is used.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.criterion import Criterion
from dokimasia.domain.failure_modes import Mode, ModeKind, Note
from dokimasia.domain.sample import Sample
from dokimasia.parsing.failure_modes.lists import NewMode, Sorting, parse_changes, parse_sorting
from dokimasia.parsing.failure_modes.notes import Assignments, Notes, parse_assignments, parse_notes
from dokimasia.prompts import lines_text

NO_MODES = "none yet"

NOTE_FORM = """<number> | commission | "<phrase of the answer>" | <note>
<number> | omission | <note>
<number> | nothing"""
SORTING_FORM = """mode <number> | <notes>
new commission | <name> | <definition> | <notes>
new omission | <name> | <definition> | <notes>
loose | <notes>"""
MERGING_FORM = """merge | <numbers> | <name> | <definition>
reword | <number> | <name> | <definition>"""
ASSIGNMENT_FORM = """<point> | <mode of commission> | "<phrase of the answer>"
<point> | <mode of omission>
<point> | none"""
"""Empty forms for people."""


class AnswerPoints(NamedTuple):
    """The points of one answer as a reader sees them, in order; `silent` are those (from 1) it does not address."""

    sample: Sample
    points: Sequence[Criterion]
    answer: str
    silent: frozenset[int] = frozenset()

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs shared by all prompts about the points."""
        rows = (
            {"n": at, "point": point.question, "truth": point.ground_truth} for at, point in enumerate(self.points, 1)
        )
        return {**question_inputs(self.sample), "points": lines_text(rows), **answer_inputs("answer", self.answer)}

    def names(self, *more: str) -> tuple[str, ...]:
        """Return the names of what the reader sees."""
        return (
            *image_if(self.sample.images),
            "question",
            "criteria",
            shown_as("response", self.answer),
            *more,
        )


def note_failures(shown: AnswerPoints) -> Ask[Notes]:
    """Ask a reader to note in its own words what went wrong in the failed points of an answer (open coding)."""
    read = partial(parse_notes, expected=len(shown.points), answer=shown.answer, silent=shown.silent)
    return Ask(
        "modes_note",
        shown.inputs,
        shown.names(),
        read,
        parse_again=partial(read, strict=False),
        images=shown.sample.images,
        form=NOTE_FORM,
    )


def sort_notes(modes: Sequence[Mode], notes: Sequence[Note]) -> Ask[Sorting]:
    """Ask a judge to sort notes under the existing modes, and to make new ones (axial coding); no model is named.

    For each note, it learns which others are of the same sample, since a new mode needs notes from two.
    """
    numbers: dict[str, int] = {}
    samples = [numbers.setdefault(note.sample_id, len(numbers) + 1) for note in notes]
    rows = (
        {"n": at, "sample": sample, "kind": note.kind, "note": note.text, "quote": note.quote}
        for at, (note, sample) in enumerate(zip(notes, samples, strict=True), 1)
    )
    read = partial(parse_sorting, modes=_mode_keys(modes), notes=[note.kind for note in notes], samples=samples)
    return Ask(
        "modes_sort",
        {"modes": modes_text(modes), "notes": lines_text(rows)},
        ("modes", "notes"),
        read,
        parse_again=partial(read, strict=False),
        form=SORTING_FORM,
    )


def merge_modes(modes: Sequence[Mode], examples: Sequence[Sequence[str]]) -> Ask[tuple[NewMode, ...]]:
    """Ask a judge which modes overlap or need rewording; each mode is shown with some of its notes."""
    rows = (
        {"n": at, **mode.model_dump(include={"kind", "name", "definition"}), "notes": list(notes)}
        for at, (mode, notes) in enumerate(zip(modes, examples, strict=True), 1)
    )
    read = partial(parse_changes, modes=_mode_keys(modes))
    return Ask(
        "modes_merge",
        {"modes": lines_text(rows)},
        ("modes", "notes"),
        read,
        parse_again=partial(read, strict=False),
        form=MERGING_FORM,
    )


def assign_modes(shown: AnswerPoints, modes: Sequence[Mode], *, repeat: int = 0) -> Ask[Assignments]:
    """Ask a coder for the mode of each point of an answer, or none (structured coding)."""
    read = partial(
        parse_assignments,
        expected=len(shown.points),
        kinds=[mode.kind for mode in modes],
        answer=shown.answer,
        names=[mode.name for mode in modes],
        silent=shown.silent,
    )
    return Ask(
        "modes_assign",
        {**shown.inputs, "modes": modes_text(modes)},
        shown.names("modes"),
        read,
        parse_again=partial(read, strict=False),
        images=shown.sample.images,
        repeat=repeat,
        form=ASSIGNMENT_FORM,
    )


def modes_text(modes: Sequence[Mode]) -> str:
    """Return modes as a reader sees them: a JSON array with one object per line, numbered from 1."""
    if not modes:
        return NO_MODES
    return lines_text(
        {"n": at, **mode.model_dump(include={"kind", "name", "definition"})} for at, mode in enumerate(modes, start=1)
    )


def _mode_keys(modes: Sequence[Mode]) -> list[tuple[ModeKind, str]]:
    return [(mode.kind, mode.name) for mode in modes]
