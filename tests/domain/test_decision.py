"""Items that people check: sentences, differences, and who settles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dokimasia.domain.decision import (
    CheckItem,
    Decision,
    Standing,
    difference,
    rubric_subject,
    sentences_of,
    without_sentences,
)

pytestmark = pytest.mark.quick

ITEM = CheckItem(run="r", kind="caption", sample_id="s", subject="v", text="A cat. It sits.")


def _made(number: int, who: str, action: str, text: str = "A cat. It sits.") -> Decision:
    changed = difference(ITEM.text, text) if action == "edit" else ""
    return Decision.model_validate(
        {
            "item": ITEM.id,
            "number": number,
            "who": who,
            "at": "t",
            "action": action,
            "text": text,
            "difference": changed,
        }
    )


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    """Splitting loses no character but spaces at the joints."""
    assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())


def test_sentences_end_where_sentences_end() -> None:
    """A mark followed by a quotation mark ends one, a decimal point does not."""
    text = 'The sign says "Stop!" It is 2.5 m high. Why? Nobody knows'
    assert sentences_of(text) == ['The sign says "Stop!"', "It is 2.5 m high.", "Why?", "Nobody knows"]
    assert without_sentences(text, [2, 3]) == 'The sign says "Stop!" Nobody knows'


@pytest.mark.parametrize("numbers", [[], [0], [5], [1, 2, 3, 4]])
def test_what_cannot_be_deleted(numbers: list[int]) -> None:
    """No sentence, one there is not, and all of them are refused."""
    with pytest.raises(ValueError, match="sentence"):
        without_sentences("A. B. C. D.", numbers)


def test_a_difference_tells_what_was_changed() -> None:
    """It names the sentence that went and the one that came; no change is no difference; spaces alone are named so."""
    changed = difference("A cat. It sits.", "A dog. It sits.")
    assert "-A cat." in changed
    assert "+A dog." in changed
    assert "It sits" not in changed
    assert difference("A.", "A.") == ""
    assert "only spaces" in difference("A.  B.", "A. B.")


def test_whoever_decided_first_settles() -> None:
    """The first person's last decision counts; without any the item waits."""
    assert (Standing(item=ITEM).state, Standing(item=ITEM).text) == ("waiting", ITEM.text)
    made = (_made(1, "anna", "reject"), _made(2, "bert", "accept"), _made(3, "anna", "edit", "A dog."))
    standing = Standing(item=ITEM, decisions=made)
    assert (standing.state, standing.text) == ("edited", "A dog.")
    assert standing.last_of("bert") == made[1]
    assert standing.last_of("carl") is None


def test_only_an_edit_has_a_difference() -> None:
    """An edit without one, and an acceptance with one, are no decisions."""
    with pytest.raises(ValidationError, match="difference"):
        _made(1, "anna", "edit")
    fields = _made(1, "anna", "accept").model_dump() | {"difference": "x"}
    with pytest.raises(ValidationError, match="difference"):
        Decision.model_validate(fields)


def test_ids_are_by_content() -> None:
    """The same thing in the same run is one item, whatever its place; when it was decided is no part of a decision's id."""
    assert ITEM.id == ITEM.model_copy(update={"position": 7}).id
    assert ITEM.id != ITEM.model_copy(update={"run": "q"}).id
    assert _made(1, "anna", "accept").id == _made(1, "anna", "accept").model_copy(update={"at": "later"}).id
    assert rubric_subject("set", 2) != rubric_subject("set", 1)
