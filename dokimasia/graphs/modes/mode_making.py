"""Modes in the making: failed atoms are noted a batch at a time, each batch sorted under modes, and overlapping modes merged.

    read ─► sort ─► merge ─► end
     ▲       │
     └───────┘  until two batches in succession bring no new mode, or all is read

The state holds the id of the book so far. Every step is checkpointed; a step that was cut off is done again whole, its calls
answered by the ledger. What could not be read or sorted is counted in the book and is no mode.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

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
from dokimasia.graphs.reasking import gathered, within_budget
from dokimasia.graphs.versions import VERSIONS

NAME = "mode_making"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

QUIET = 2
"""Batches in succession without a new mode after which, once there is one, no more is read."""

EXAMPLES = 3
"""Notes of a mode that are shown where modes are merged."""

T = TypeVar("T")


class State(Failure, total=False):
    """`book` is the id of what was noted and made so far, `fresh` how many of its notes no batch holds yet.

    `result` are the ids of the list of modes and of the book.
    """

    book: str
    fresh: int
    result: list[str]


def _silent(done: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class MakingContext(Context):
    """The services of the making, the answers in the order of reading, their images' marks, and who hears of progress."""

    answers: Sequence[AnswerAtoms] = ()
    made_on: tuple[str, ...] = ()
    told: Callable[[int], None] = field(default=_silent)


async def shown_of(context: Context, answer: AnswerAtoms, numbers: Sequence[int]) -> AnswerPoints:
    """Return atoms of an answer as a reader sees them, in an order."""
    sample = await context.store.get(Sample, answer.sample)
    criteria = (await context.store.get(CriteriaSet, answer.criteria)).criteria
    response = await context.store.get(Response, answer.response)
    silent = frozenset(place for place, number in enumerate(numbers, 1) if number in answer.silent)
    return AnswerPoints(sample, [criteria[number - 1] for number in numbers], response.text, silent)


async def read(state: State, runtime: Runtime[MakingContext]) -> State:
    """Have the failed atoms of the next answers noted."""
    context, book = runtime.context, await _book(runtime.context, state)
    batch = _next(context.answers, book.answers)

    async def one(answer: AnswerAtoms) -> tuple[list[Note], int, Counter[FailureKind], list[str]]:
        asked = await _asked(context, note_failures(await shown_of(context, answer, answer.failed)))
        if asked.value is None:
            return [], 0, Counter({asked.failure.kind: len(answer.failed)}), asked.calls
        place = {"sample_id": answer.sample_id, "model": answer.model, "repeat": answer.repeat}
        said = list(zip(answer.failed, asked.value.points, strict=True))
        notes = [
            Note(**place, criterion=number, **noted._asdict())
            for number, noted in said
            if noted is not None and noted != "nothing"
        ]
        lost = sum(noted is None for _, noted in said)
        failures: Counter[FailureKind] = Counter({"unparsable": lost} if lost else {})
        return notes, sum(noted == "nothing" for _, noted in said), failures, asked.calls

    done = await gathered(map(one, batch))
    fresh = [note for notes, *_ in done for note in notes]
    book = book.model_copy(
        update={
            "answers": book.answers + len(batch),
            "atoms": book.atoms + sum(len(one.failed) for one in batch),
            "notes": (*book.notes, *fresh),
            "nothing": book.nothing + sum(nothing for _, nothing, *_ in done),
            "failures": _added(book.failures, [failures for *_, failures, _ in done]),
            "calls": (*book.calls, *(key for *_, calls in done for key in calls)),
        }
    )
    return {"book": await context.store.put(book), "fresh": len(fresh)}


async def sort(state: State, runtime: Runtime[MakingContext]) -> State:
    """Have the new notes, and those that are still loose, sorted under modes; where that fails they wait for the next batch."""
    context, book, fresh = runtime.context, await _book(runtime.context, state), state.get("fresh", 0)
    if not fresh:
        return {"fresh": 0}
    places = book.loose
    loose = [book.notes[place] for place in places]
    asked = await _asked(context, sort_notes([one.mode for one in book.modes], loose))
    update: dict[str, Any] = {"calls": (*book.calls, *asked.calls)}
    if asked.value is None:
        update["unsorted"] = _added(book.unsorted, [{asked.failure.kind: 1}])
    else:
        new = [(Mode(name=one.name, kind=one.kind, definition=one.definition), one.of) for one in asked.value.new][
            : MOST_MODES - len(book.modes)
        ]
        update["modes"] = sorted_under(book.modes, places, asked.value.under, new)
        update["batches"] = (*book.batches, Batch(notes=fresh, new=len(new)))
        last = update["batches"][-QUIET:]
        update["settled"] = bool(update["modes"]) and len(last) == QUIET and not any(one.new for one in last)
    return {"book": await context.store.put(book.model_copy(update=update)), "fresh": 0}


async def merge(state: State, runtime: Runtime[MakingContext]) -> State:
    """Merge modes that overlap and reword what can be read in two ways; then the list is fixed."""
    context, book = runtime.context, await _book(runtime.context, state)
    if not book.modes and (book.unsorted or (book.failures and not book.notes)):
        kind: FailureKind = next(iter(book.unsorted or book.failures))
        return {"failed": kind, "reason": f"no mode was made: {_lost(book)}"}
    if len(book.modes) > 1:
        examples = [[book.notes[place].text for place in one.notes[:EXAMPLES]] for one in book.modes]
        asked = await _asked(context, merge_modes([one.mode for one in book.modes], examples))
        update: dict[str, Any] = {"calls": (*book.calls, *asked.calls)}
        if asked.value is None:
            update["unmerged"] = f"{asked.failure.kind}: {asked.failure.reason}"
        else:
            changes = [(one.name, one.definition, one.of) for one in asked.value]
            update["modes"] = changed(book.modes, changes)
            update["merged"] = len(book.modes) - len(update["modes"])
        book = book.model_copy(update=update)
    modes = [one.mode.model_copy(update={"notes": len(one.notes)}) for one in book.modes]
    made = ModeList(modes=tuple(sorted(modes, key=lambda one: (-one.notes, one.name))), made_on=context.made_on)
    return {"result": [await context.store.put(made), await context.store.put(book)]}


async def after_sort(state: State, runtime: Runtime[MakingContext]) -> Literal["read", "merge"]:
    """Read on until nothing new comes, or nothing is left."""
    book = await _book(runtime.context, state)
    return "merge" if book.settled or book.answers >= len(runtime.context.answers) else "read"


def build() -> StateGraph[State, MakingContext]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=MakingContext)
    graph.add_sequence([("read", read), ("sort", sort)])
    graph.add_node("merge", merge)
    graph.add_edge(START, "read")
    graph.add_conditional_edges("sort", after_sort, {"read": "read", "merge": "merge"})
    graph.add_edge("merge", END)
    return graph


async def _book(context: MakingContext, state: State) -> NoteBook:
    """Return the book so far, empty at the beginning."""
    return await context.store.get(NoteBook, state["book"]) if state.get("book") else NoteBook()


def _next(answers: Sequence[AnswerAtoms], begun: int) -> Sequence[AnswerAtoms]:
    """Return the answers of the next batch, at least one."""
    size = batch_size(sum(len(one.failed) for one in answers))
    atoms = 0
    for end in range(begun, len(answers)):
        atoms += len(answers[end].failed)
        if atoms >= size:
            return answers[begun : end + 1]
    return answers[begun:]


async def _asked(context: MakingContext, what: Ask[T]) -> AskResult[T]:
    """Ask, and tell that one more is done.

    Raises:
        CallFailed: the budget is used up: the step stays open, so that a resume does it whole.
    """
    asked = within_budget(await context.ask(what))
    context.told(1)
    return asked


def _added(before: Mapping[FailureKind, int], more: Iterable[Mapping[FailureKind, int]]) -> dict[FailureKind, int]:
    total: Counter[FailureKind] = Counter(before)
    for one in more:
        total.update(one)
    return dict(sorted(total.items()))


def _lost(book: NoteBook) -> str:
    atoms, batches = sum(book.failures.values()), sum(book.unsorted.values())
    return f"{atoms} of {book.atoms} atoms were not read, and {batches} batches of notes not sorted"
