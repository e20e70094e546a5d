"""The graph that holds an item until a person has decided, begun anew wherever it was lost."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from dokimasia.domain.decision import Decision
from dokimasia.graphs.review import verification

THREAD = verification.thread_id("run", "item")


def _decision(action: str) -> Decision:
    text = {"item": "item", "number": 1, "who": "anna", "at": "t", "action": action, "text": "A dog."}
    return Decision.model_validate(text | {"difference": "x" if action == "edit" else ""})


@pytest.mark.parametrize(("action", "state"), [("accept", "accepted"), ("edit", "edited"), ("reject", "rejected")])
async def test_a_thread_waits_and_goes_on(action: str, state: str) -> None:
    """Held twice it waits once; a decision ends it, and the same decision again changes nothing."""
    graph = verification.compiled(InMemorySaver())
    assert await verification.hold(graph, "item", THREAD)
    assert await verification.hold(graph, "item", THREAD)
    assert await verification.go_on(graph, "item", _decision(action), THREAD) == state
    assert not await verification.hold(graph, "item", THREAD)
    assert await verification.go_on(graph, "item", _decision("reject"), THREAD) == state


async def test_a_lost_thread_is_begun_anew() -> None:
    """With an empty saver a decision is taken all the same."""
    graph = verification.compiled(InMemorySaver())
    assert await verification.go_on(graph, "item", _decision("accept"), THREAD) == "accepted"


async def test_a_thread_holds_ids_only() -> None:
    """No text of the item or of the decision is in the state."""
    graph = verification.compiled(InMemorySaver())
    await verification.go_on(graph, "item", _decision("edit"), THREAD)
    state = await graph.aget_state({"configurable": {"thread_id": THREAD}})
    assert set(state.values) == {"item", "decision", "action", "verdict"}
    assert "A dog." not in str(state.values)
