"""Looks as messages: rounds that are put on and taken off again, and prompts recognised beneath them."""

from dokimasia.domain.call import Message, ToolCall
from dokimasia.domain.sample import ImageRef, TextPart
from dokimasia.prompts import (
    recognise,
    render,
    with_form,
    with_looking,
    with_looks,
    with_repair,
    without_looking,
    without_looks,
)

IMAGE = ImageRef(sha256="a" * 64, media_type="image/png", width=8, height=8)
MADE = IMAGE.model_copy(update={"sha256": "b" * 64})
CALL = ToolCall(id="c1", name="zoom", arguments='{"box": [0, 0, 1, 1]}')
SOLVER = render("solver", {"question": "What is it?"}, images=(IMAGE,))


def looked(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Two rounds of looks, one with an image and one that failed."""
    once = with_looks(messages, "Let me see.", [(CALL, "The region.")], [(1, MADE)])
    return with_looks(once, "", [(CALL, "Not done: no such image."), (CALL, "Not done.")], [])


def test_rounds_are_calls_results_and_images() -> None:
    """What was asked for is repeated, each call gets its answer, and images follow with their numbers."""
    _, _, asked, told, shown, again, first, second = looked(SOLVER.messages)
    assert (asked.text, asked.tool_calls) == ("Let me see.", (CALL,))
    assert (told.role, told.tool_call_id, told.images) == ("tool", "c1", ())
    assert (shown.role, shown.text, shown.images) == ("user", "Image 1:", (MADE,))
    assert (again.text, len(again.tool_calls), first.text, second.text) == (
        "",
        2,
        "Not done: no such image.",
        "Not done.",
    )


def test_rounds_are_taken_off_again() -> None:
    """Without its looks a request is what it was, repaired or not."""
    repaired = with_repair(SOLVER, "nonsense", "no answer in it")
    assert without_looks(looked(SOLVER.messages)) == SOLVER.messages
    assert without_looks(looked(repaired.messages)) == repaired.messages
    assert without_looks((Message(role="user", parts=(TextPart(text="Hello"),)),))[0].text == "Hello"


def test_a_prompt_is_recognised_beneath_its_looks() -> None:
    """Instructions on tools, a form, a repair and looks hide no prompt, and images made on the way are not its own."""
    told = with_looking(SOLVER, 6)
    assert "6 times at most" in told.messages[0].text
    assert without_looking(told.messages) == SOLVER.messages
    plain = recognise(SOLVER.messages)
    assert recognise(told.messages) == plain
    assert recognise(looked(with_form(told, '{"a": 1}').messages)) == plain
    repaired = recognise(looked(with_repair(told, "nonsense", "no answer").messages))
    assert repaired is not None
    assert (repaired.name, repaired.problem, repaired.images) == ("solver", "no answer", (IMAGE,))
