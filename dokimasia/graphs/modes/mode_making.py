"""Derivation of failure modes: notes on failed atoms are sorted under modes batch by batch, and overlapping modes merged.

    read ─► sort ─► merge ─► end
     ▲       │
     └───────┘  until two successive batches bring no new mode, or all answers are read

The state holds the id of the note book. Every step is checkpointed; an interrupted step is repeated as a whole, with
its calls answered by the ledger. Atoms without notes and unsorted batches are counted in the book.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import Ask, AskResult
from dokimasia.agents.modes import AnswerPoints, merge_modes, note_failures, sort_notes
from dokimasia.algorithms.modes import batch_size, changed, sorted_under
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.failure_modes import MOST_MODES, AnswerAtoms, Batch, Mode, ModeList, Note, NoteBook
from dokimasia.domain.judgement import FailureKind, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure
from dokimasia.graphs.reasking import gather_all, within_budget
from dokimasia.graphs.versions import VERSIONS

NAME = "mode_making"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

QUIET = 2
"""Successive batches without a new mode after which reading stops, provided there is a mode."""

EXAMPLES = 3
"""Number of notes of each mode that the judge sees when modes are merged."""

T = TypeVar("T")


class State(Failure, total=False):
    """`book` is the id of the note book, `fresh` the number of its notes that are not in a batch yet.

    `result` holds the ids of the list of modes and of the book.
    """

    book: str
    fresh: int
    result: list[str]


def _no_progress(done: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class MakingContext(Context):
    """The services of mode making, the answers in reading order, their images' marks, and a callback for progress."""

    answers: Sequence[AnswerAtoms] = ()
    made_on: tuple[str, ...] = ()
    progress: Callable[[int], None] = field(default=_no_progress)


async def points_of(context: Context, answer: AnswerAtoms, numbers: Sequence[int]) -> AnswerPoints:
    """Return the numbered atoms of an answer with what a reader sees, in the order of `numbers`."""
    sample = await context.store.get(Sample, answer.sample)
    criteria = (await context.store.get(CriteriaSet, answer.criteria)).criteria
    response = await context.store.get(Response, answer.response)
    silent = frozenset(line for line, number in enumerate(numbers, 1) if number in answer.silent)
    return AnswerPoints(sample, [criteria[number - 1] for number in numbers], response.text, silent)


class AnswerNotes(NamedTuple):
    """Notes on an answer's failed atoms, the number of atoms without a note, and failures by kind."""

    notes: list[Note]
    nothing: int
    failures: Counter[FailureKind]
    calls: list[str]


async def _notes_of(answer: AnswerAtoms, context: MakingContext) -> AnswerNotes:
    reply = await _ask(context, note_failures(await points_of(context, answer, answer.failed)))
    answer_notes = AnswerNotes([], 0, Counter(), reply.calls)
    if reply.value is None:
        answer_notes.failures[reply.failure.kind] = len(answer.failed)
        return answer_notes
    nothing = 0
    for number, point in zip(answer.failed, reply.value.points, strict=True):
        if point is None:
            answer_notes.failures["unparsable"] += 1
        elif point == "nothing":
            nothing += 1
        else:
            source = {"sample_id": answer.sample_id, "model": answer.model, "repeat": answer.repeat}
            answer_notes.notes.append(Note(**source, criterion=number, **point._asdict()))
    return answer_notes._replace(nothing=nothing)


async def read(state: State, runtime: Runtime[MakingContext]) -> State:
    """Have notes written on the failed atoms of the next answers."""
    context, book = runtime.context, await _book(runtime.context, state)
    batch = _next(context.answers, book.answers)
    fresh: list[Note] = []
    failures: Counter[FailureKind] = Counter(book.failures)
    nothing, calls = book.nothing, list(book.calls)
    for answer_notes in await gather_all(_notes_of(answer, context) for answer in batch):
        fresh += answer_notes.notes
        failures.update(answer_notes.failures)
        nothing += answer_notes.nothing
        calls += answer_notes.calls
    book = book.model_copy(
        update={
            "answers": book.answers + len(batch),
            "atoms": book.atoms + sum(len(answer.failed) for answer in batch),
            "notes": (*book.notes, *fresh),
            "nothing": nothing,
            "failures": dict(sorted(failures.items())),
            "calls": tuple(calls),
        }
    )
    return {"book": await context.store.put(book), "fresh": len(fresh)}


async def sort(state: State, runtime: Runtime[MakingContext]) -> State:
    """Have new and unsorted notes sorted under modes; if that fails, they wait for the next batch."""
    context, book, fresh = runtime.context, await _book(runtime.context, state), state.get("fresh", 0)
    if not fresh:
        return {"fresh": 0}
    modes, loose = [entry.mode for entry in book.modes], [book.notes[index] for index in book.loose]
    reply = await _ask(context, sort_notes(modes, loose))
    update: dict[str, Any] = {"calls": (*book.calls, *reply.calls)}
    if reply.value is None:
        unsorted: Counter[FailureKind] = Counter(book.unsorted)
        unsorted[reply.failure.kind] += 1
        update["unsorted"] = dict(sorted(unsorted.items()))
    else:
        new: list[tuple[Mode, Sequence[int]]] = []
        for entry in reply.value.new[: MOST_MODES - len(modes)]:
            new.append((Mode(name=entry.name, kind=entry.kind, definition=entry.definition), entry.of))
        sorted_modes = sorted_under(book.modes, book.loose, reply.value.under, new)
        batches = (*book.batches, Batch(notes=fresh, new=len(new)))
        last = batches[-QUIET:]
        settled = bool(sorted_modes) and len(last) == QUIET and not any(batch.new for batch in last)
        update |= {"modes": sorted_modes, "batches": batches, "settled": settled}
    return {"book": await context.store.put(book.model_copy(update=update)), "fresh": 0}


async def merge(state: State, runtime: Runtime[MakingContext]) -> State:
    """Merge overlapping modes and reword ambiguous ones; then the list is final."""
    context, book = runtime.context, await _book(runtime.context, state)
    if not book.modes and (book.unsorted or (book.failures and not book.notes)):
        kind: FailureKind = next(iter(book.unsorted or book.failures))
        return {"failed": kind, "reason": f"no mode was made: {_lost(book)}"}
    if len(book.modes) > 1:
        examples = [[book.notes[index].text for index in entry.notes[:EXAMPLES]] for entry in book.modes]
        reply = await _ask(context, merge_modes([entry.mode for entry in book.modes], examples))
        update: dict[str, Any] = {"calls": (*book.calls, *reply.calls)}
        if reply.value is None:
            update["unmerged"] = f"{reply.failure.kind}: {reply.failure.reason}"
        else:
            merged = changed(book.modes, [(change.name, change.definition, change.of) for change in reply.value])
            update |= {"modes": merged, "merged": len(book.modes) - len(merged)}
        book = book.model_copy(update=update)
    modes = [entry.mode.model_copy(update={"notes": len(entry.notes)}) for entry in book.modes]
    modes.sort(key=lambda mode: (-mode.notes, mode.name))
    result = ModeList(modes=tuple(modes), made_on=context.made_on)
    return {"result": [await context.store.put(result), await context.store.put(book)]}


async def after_sort(state: State, runtime: Runtime[MakingContext]) -> Literal["read", "merge"]:
    """Return `merge` once the modes are settled or all answers are read, else `read`."""
    book = await _book(runtime.context, state)
    if book.settled or book.answers >= len(runtime.context.answers):
        return "merge"
    return "read"


def build() -> StateGraph[State, MakingContext]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=MakingContext)
    graph.add_sequence([("read", read), ("sort", sort)])
    graph.add_node("merge", merge)
    graph.add_edge(START, "read")
    graph.add_conditional_edges("sort", after_sort, {"read": "read", "merge": "merge"})
    graph.add_edge("merge", END)
    return graph


async def _book(context: MakingContext, state: State) -> NoteBook:
    """Return the note book, which is empty at the beginning."""
    if state.get("book"):
        return await context.store.get(NoteBook, state["book"])
    return NoteBook()


def _next(answers: Sequence[AnswerAtoms], start: int) -> Sequence[AnswerAtoms]:
    """Return the answers of the next batch, at least one."""
    size = batch_size(sum(len(answer.failed) for answer in answers))
    atoms = 0
    for end in range(start, len(answers)):
        atoms += len(answers[end].failed)
        if atoms >= size:
            return answers[start : end + 1]
    return answers[start:]


async def _ask(context: MakingContext, role: Ask[T]) -> AskResult[T]:
    """Return the reply to a request, and report progress.

    Raises:
        CallFailed: the budget is exhausted; the step stays open, so that a resume repeats it.
    """
    reply = within_budget(await context.ask(role))
    context.progress(1)
    return reply


def _lost(book: NoteBook) -> str:
    atoms, batches = sum(book.failures.values()), sum(book.unsorted.values())
    return f"{atoms} of {book.atoms} atoms were not read, and {batches} batches of notes not sorted"
