"""What an error analysis came to: its figures for JSON, and the rows of an export."""

from collections.abc import Iterator, Sequence
from typing import Any

from dokimasia.domain.failure_modes import NoteBook
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.modes.coded import BOOK, SECOND, Coded, CodedAtom, coded_of, item_of
from dokimasia.methods.modes.counting import FEWEST, NO_MODE, agreement, contrasts, of_mode
from dokimasia.methods.modes.examples import chosen, examples_by_mode
from dokimasia.methods.modes.request import NAME
from dokimasia.parsing.phrases import MISQUOTED
from dokimasia.report.figures import several
from dokimasia.runs.figures import failures, paid, simulated
from dokimasia.runs.method import ColumnType
from dokimasia.runs.plans import model_identity
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, get_result, results
from dokimasia.storage.runs import Run, get_run

COLUMNS: dict[str, ColumnType] = {
    "criterion": "integer",
    "question": "text",
    "ground_truth": "text",
    "group": "text",
    "verdict": "text",
    "leaf": "text",
    "mode": "text",
    "quote": "text",
    "second": "text",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}
"""What an export says of an atom: `group` is failed or met, `mode` is `none of these` where none was seen, and null where
it was not coded; `second` is the second coder's word, null where he has none."""


def modes_figures(home: Home, run: Run) -> dict[str, Any]:
    """Return what an analysis came to, ready for JSON; the same stored rows give the same bytes.

    Returns:
        What `shape.ModesFigures` describes.
    """
    found = coded_of(home, run)
    plan, models, rows = found.plan, found.models, results(home, run.id)
    names, atoms = [one.name for one in found.modes], found.atoms
    examples = examples_by_mode(found, chosen(atoms, names, models, seed=plan.seed))
    second = [row for row in rows if row.kind == SECOND]
    made = get_result(home, run.id, BOOK)
    source = EVALUATION.read(get_run(home, plan.source))[0]
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "seed": plan.seed,
        "simulated": sorted({*simulated(plan.models.values()), *simulated(source.models.values())}),
        "judge": plan.judge_name,
        "coder": plan.coder.ref.name,
        "same_coder": model_identity(plan.coder) == model_identity(plan.judge),
        "models": models,
        "notes": [*_notes(found, None if made is None else made.reason)],
        "given": bool(plan.given),
        "making": None if found.book is None else _making(found.book),
        "atoms": {
            "failed": _group(found, failed=True),
            "met": _group(found, failed=False),
        },
        "modes": [
            {
                **mode.model_dump(mode="json"),
                **of_mode(atoms, mode.name, models),
                "examples": examples.get(mode.name, []),
            }
            for mode in found.modes
        ],
        "none": of_mode(atoms, None, models) if names else None,
        "contrasts": [one.as_json() for one in contrasts(atoms, names, models, seed=plan.seed)],
        "agreement": agreement(atoms),
        "agreement_failed": agreement(one for one in atoms if one.failed),
        "misquoted": sum(one.failure is not None and one.reason.startswith(MISQUOTED) for one in atoms),
        "failures": failures(row for row in rows if row.kind != SECOND),
        "second_failures": failures(second),
        "open_items": 0 if run.status == "done" else sum(len(one.numbers) for one in found.drawn.counting) - len(atoms),
        **paid(home, rows),
    }


def _group(found: Coded, *, failed: bool) -> dict[str, Any]:
    """Return how many atoms of a group there are in the counting half, were drawn, and were coded."""
    there = found.drawn.failed if failed else found.drawn.met
    drawn = [one for each in found.drawn.counting for one in (each.failed if failed else each.met)]
    known = sum(one.failed is failed and one.coding is not None for one in found.atoms)
    return {
        "there": sum(there.values()),
        "n": len(drawn),
        "n_scored": known,
        "coverage": known / len(drawn) if drawn else None,
    }


def _making(book: NoteBook) -> dict[str, Any]:
    """Return how modes were made: `notes_to_last` is how many notes had been sorted when the last new mode came."""
    read, last = 0, 0
    for batch in book.batches:
        read += batch.notes
        last = read if batch.new else last
    return {
        "answers": book.answers,
        "atoms": book.atoms,
        "notes": len(book.notes),
        "omissions": sum(one.kind == "omission" for one in book.notes),
        "nothing": book.nothing,
        "loose": len(book.loose),
        "batches": [one.model_dump(mode="json") for one in book.batches],
        "settled": book.settled,
        "notes_to_last": last,
        "merged": book.merged,
        "unmerged": book.unmerged or None,
        "failures": dict(book.failures),
        "unsorted": dict(book.unsorted),
    }


def _notes(found: Coded, failed: str | None) -> Iterator[str]:
    """Yield what a reader must know first."""
    book = found.book
    if failed:
        yield f"No modes were made: {failed}"
    if book is not None and not found.modes:
        yield f"No two of {len(book.notes)} notes tell of the same way of going wrong: there is no mode to count."
    if book is not None and found.modes and not book.settled:
        yield (
            f"New modes came until the end of {len(book.notes)} notes, or too few came after the last: the list has not "
            "settled, and more samples may bring further modes."
        )
    clusters = {one.cluster for one in found.atoms}
    if found.modes and 0 < len(clusters) < FEWEST:
        yield f"The modes are counted on {several(len(clusters), 'image')}: intervals are as wide as that says."


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield every atom that was to be coded, or those of one sample, ready for JSON."""
    found = coded_of(home, run)
    for one in found.atoms:
        if sample is None or one.answer.sample_id == sample:
            place = {"sample": one.answer.sample_id, "model": one.answer.model, "repeat": one.answer.repeat}
            yield {**place, **_cells(found, one), "failure": one.failure, "reason": one.reason or None}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each atom; what there is not is null."""
    found = coded_of(home, run)
    by_item = {item_of(NAME, one.answer, one.number): _cells(found, one) for one in found.atoms}
    return [by_item[row.item] for row in rows]


def _cells(found: Coded, one: CodedAtom) -> dict[str, Any]:
    criterion = found.criterion(one)
    return {
        **dict.fromkeys(COLUMNS),
        "criterion": one.number,
        "question": criterion.question,
        "ground_truth": criterion.ground_truth,
        "group": "failed" if one.failed else "met",
        "verdict": one.verdict,
        "leaf": one.leaf or None,
        "mode": None if one.coding is None else one.coding.mode or NO_MODE,
        "quote": one.coding.quote or None if one.coding else None,
        "second": None if one.second is None else one.second.mode or NO_MODE,
        "judge": found.plan.judge_name,
        **(one.coding.provenance.model_dump(include=set(COLUMNS)) if one.coding else {}),
    }
