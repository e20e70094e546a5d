"""The letter and the place of the right choice, told without a word of it."""

import pytest

from dokimasia.algorithms.leaks.chosen import tells_place
from dokimasia.algorithms.leaks.secrets import secrets_of

CHOICES = ("a kite", "a drum", "a lamp", "a boot")


def tells(text: str, right: int = 1) -> bool:
    """Whether a text tells the place of the choice at `right`."""
    return tells_place(text, secrets_of("What does the child hold?", CHOICES, (), CHOICES[right], right))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Look at both hands and you will see; it's B.", 1),
        ("Compare the shapes, then choose option b) and be done.", 1),
        ("Go down the list and stop at number two.", 1),
        ("The one you want is listed as #2.", 1),
        ("Tick the box in second place.", 1),
        ("It is the thing mentioned first.", 0),
        ("Of the choices, the one named at the very end.", 3),
    ],
)
def test_a_place_that_is_told(text: str, right: int) -> None:
    """The right letter or place as the one to choose is found; the same of a wrong choice gives nothing away."""
    assert tells(text, right)
    assert not tells(text, (right + 1) % len(CHOICES))


@pytest.mark.parametrize(
    "text",
    [
        "It's a matter of looking at both hands.",
        "Look at the second row of children.",
        "Number two in the race is not the child that is meant.",
        "It is A or B, so look again.",
        "Do not choose option (b) before you have looked.",
        "Count to four and look again.",
    ],
)
def test_what_tells_no_place(text: str) -> None:
    """Articles, rows in the picture, several letters and denials tell no place."""
    assert not tells(text)


def test_without_choices_there_is_no_place() -> None:
    """A question without a list has no letters."""
    assert not tells_place("It's B.", secrets_of("What is it?", (), (), "a drum", None))
