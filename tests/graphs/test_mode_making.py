"""The graph in which modes are made: batch by batch until nothing new comes, and what fails on the way is counted."""

from collections.abc import Callable
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.failure_modes import AnswerAtoms, ModeList, NoteBook
from dokimasia.domain.judgement import Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs.modes import mode_making
from dokimasia.prompts import recognise
from dokimasia.storage.memory import MemoryStore

JUDGE = {"judge": ModelSpec(ref=ModelRef(name="judge", model="test/judge"))}
DEFINITION = "The answer takes a value from the row above or below the one that the question names."
ANSWER = "The Supreme row reads 3.49."


async def made(
    answers: int, judge: Callable[[str, dict[str, str]], str], **context: Any
) -> tuple[dict[str, Any], NoteBook, ModeList]:
    """What comes of answers with four failed atoms each, and what a judge replies by prompt."""
    store = MemoryStore()
    criteria = CriteriaSet(
        criteria=tuple(
            Criterion(question=f"What of part {at}?", ground_truth=f"It is {at}.", weight=2) for at in range(4)
        )
    )
    read: list[AnswerAtoms] = []
    for at in range(answers):
        sample = Sample(id=f"s{at}", prompt=f"What is shown in picture {at}?")
        response = Response(sample=f"s{at}", model="m", text=ANSWER)
        read.append(
            AnswerAtoms(
                sample_id=sample.id,
                sample_digest="",
                sample=await store.put(sample),
                cluster=sample.id,
                model="m",
                repeat=0,
                criteria=await store.put(criteria),
                response=await store.put(response),
                failed=(1, 2, 3, 4),
            )
        )

    def reply(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        assert request is not None
        return judge(request.name, {**request.inputs, "problem": request.problem or ""})

    services = mode_making.MakingContext(
        FunctionGateway(reply), store, GraphOptions(judge="judge", models=JUDGE), answers=read
    )
    state = await mode_making.build().compile().ainvoke({}, {"recursion_limit": 60}, context=services)
    if state.get("failed"):
        return state, NoteBook(), ModeList(modes=())
    modes, book = state["result"]
    return state, await store.get(NoteBook, book), await store.get(ModeList, modes)


def notes(name: str = "takes the row above") -> str:
    """A commission on every point."""
    return "\n".join(f'{at} | commission | "Supreme row" | {name}' for at in range(1, 5))


def under_one(inputs: dict[str, str]) -> str:
    """All notes under the mode that there is, or under a new one."""
    count = inputs["notes"].count('"n":')
    numbers = ", ".join(map(str, range(1, count + 1)))
    if inputs["modes"] == "none yet":
        return f"new commission | reads the neighbouring row | {DEFINITION} | {numbers}"
    return f"mode 1 | {numbers}"


async def test_it_stops_when_two_batches_bring_nothing_new() -> None:
    """Of forty answers twelve are read: three batches, of which the last two bring no mode; the rest is not paid for."""

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        return notes() if prompt == "modes_note" else under_one(inputs)

    _, book, modes = await made(40, judge)
    assert [(one.notes, one.new) for one in book.batches] == [(12, 1), (12, 0), (12, 0)]
    assert (book.settled, book.answers, book.atoms, len(book.notes)) == (True, 9, 36, 36)
    assert [(one.name, one.kind, one.notes) for one in modes.modes] == [
        ("reads the neighbouring row", "commission", 36)
    ]
    assert book.loose == ()
    assert all(one.quote in ANSWER for one in book.notes)


async def test_notes_that_run_out_say_that_nothing_settled() -> None:
    """Where all is read and new modes came to the end, the list has not settled."""

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        return notes() if prompt == "modes_note" else under_one(inputs)

    _, book, _ = await made(3, judge)
    assert (book.settled, len(book.batches)) == (False, 1)


async def test_a_loose_note_is_shown_again() -> None:
    """A note that nothing went with finds its mode in a later batch."""
    shown: list[int] = []

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        if prompt == "modes_note":
            return notes()
        shown.append(inputs["notes"].count('"n":'))
        if len(shown) == 1:
            return "loose | " + ", ".join(map(str, range(1, 13)))
        return under_one(inputs)

    _, book, modes = await made(6, judge)
    assert shown == [12, 24]
    assert modes.modes[0].notes == 24
    assert [one.new for one in book.batches] == [0, 1]


async def test_modes_that_overlap_become_one() -> None:
    """At the end the list is looked through, and what is merged has the notes of both."""

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        if prompt == "modes_note":
            return notes()
        if prompt == "modes_merge":
            assert "takes the row above" in inputs["modes"]
            return f"merge | 1, 2 | reads a row beside it | {DEFINITION}"
        return (
            f"new commission | reads the row above | {DEFINITION} | 1, 2, 5\n"
            f"new commission | reads the row below | {DEFINITION} | 3, 4, 6\nloose | 7, 8, 9, 10, 11, 12"
        )

    _, book, modes = await made(3, judge)
    assert [(one.name, one.notes) for one in modes.modes] == [("reads a row beside it", 6)]
    assert (book.merged, len(book.loose)) == (1, 6)


async def test_what_could_not_be_read_or_sorted_is_counted() -> None:
    """A lost note, a reader who finds nothing, a sorting without use: each is counted, and nothing takes its place."""

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        if prompt == "modes_sort":
            return "I would rather not."
        if "picture 0" in inputs["question"]:
            return "I see nothing."
        lines = notes().splitlines()
        lines[0] = "1 | nothing"
        lines[1] = '2 | commission | "Plus row" | takes another row'
        return "\n".join(lines)

    state, _, _ = await made(3, judge)
    assert state["failed"] == "unparsable"
    assert "of 12 atoms were not read, and 1 batches of notes not sorted" in state["reason"]


async def test_a_reader_who_finds_nothing_wrong_leaves_no_mode() -> None:
    """Failed atoms of which a second look finds nothing wrong are no failure of the analysis: there is no mode."""

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        assert prompt == "modes_note"
        return "\n".join(f"{at} | nothing" for at in range(1, 5))

    state, book, modes = await made(3, judge)
    assert not state.get("failed")
    assert (book.nothing, book.notes, modes.modes) == (12, (), ())


@pytest.mark.parametrize("problem", ["the phrase", "there is no place for note"])
async def test_faults_go_back_once(problem: str) -> None:
    """A phrase that does not stand in the answer, and a note without a place, come back to the judge with the reason."""
    seen: list[str] = []

    def judge(prompt: str, inputs: dict[str, str]) -> str:
        if inputs["problem"]:
            seen.append(inputs["problem"])
        elif prompt == "modes_note" and problem == "the phrase":
            return notes().replace("Supreme row", "Plus row", 1)
        elif prompt == "modes_sort" and problem != "the phrase":
            return f"new commission | reads the neighbouring row | {DEFINITION} | 1, 2"
        return notes() if prompt == "modes_note" else under_one(inputs)

    _, book, _ = await made(3, judge)
    assert seen
    assert all(problem in one for one in seen)
    assert len(book.notes) == 12
