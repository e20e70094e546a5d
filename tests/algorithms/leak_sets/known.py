"""Hints whose leaks are known, written beside the filter: the forms that `blind.py` leaves out, and clean hints.

`blind.py` was written by someone who had not seen the filter; this half was used while the filter was made.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Case(NamedTuple):
    """A hint on a question, and the form in which it gives the answer away; None where it is clean."""

    question: str
    choices: tuple[str, ...]
    truths: tuple[str, ...]
    answer: str
    hint: str
    form: str | None


class Asked(NamedTuple):
    """A question with what must not be told, and words to tell it by."""

    question: str
    choices: tuple[str, ...]
    truths: tuple[str, ...]
    answer: str
    secret: str
    """The answer as a word or a number."""
    other: str
    """The same in other words, or as a number word."""
    near: str
    """A comparison that gives it away: an opposite, a rhyme, a neighbour."""
    clean: tuple[str, ...]


ASKED = (
    Asked(
        "How many mugs stand on the shelf?",
        (),
        ("The shelf holds 4 mugs.",),
        "4",
        "4",
        "four",
        "one less than five",
        (
            "Go along the shelf from its left end and count only what has a handle.",
            "A mug that is hidden halfway still counts; look behind the front row.",
            "Check each of the mugs twice before you commit to a number.",
            "Bowls and glasses are not mugs, so leave them out of your count.",
            "The shelf is longer than it looks: its far end is in the shade.",
            "In step 4 of your answer you counted the teapot; look at it again.",
        ),
    ),
    Asked(
        "What colour is the door of the barn?",
        (),
        ("The barn's door is red.",),
        "red",
        "red",
        "crimson red",
        "the colour that rhymes with bed",
        (
            "Do not mix up the barn's door with its roof; look at the door alone.",
            "The evening light tints everything, so compare the door with the snow.",
            "Look at the part of the door that lies in the shade.",
            "You read the colour of the fence; the door of the barn is further back.",
            "I read the question again before I looked at the door.",
            "Two things have strong colours here. Which one is the door?",
        ),
    ),
    Asked(
        "Which season does the picture show?",
        ("spring", "summer", "autumn", "winter"),
        ("Bare trees and snow show that it is winter.",),
        "D",
        "winter",
        "the winter season",
        "the opposite of summer, option D",
        (
            "Look at the branches of the trees: what do they carry?",
            "Think of what spring, summer, autumn and winter each do to the trees.",
            "A season shows in the clothes of people, too; look at theirs.",
            "Do not go by the blue sky alone; the ground tells more.",
            "Ask yourself whether the light fits summer or winter better.",
            "Check the ground before you choose between the four.",
        ),
    ),
    Asked(
        "Is the cat to the left or to the right of the vase?",
        ("left", "right"),
        ("The cat sits left of the vase.",),
        "A",
        "left",
        "the left-hand side",
        "not on the right",
        (
            "Put a line through the vase and see on which side of it the cat sits.",
            "Mind that left and right are meant as you see them, not as the cat does.",
            "Look at the vase first, then at the cat.",
            "Compare where the cat's ears are with where the vase stands.",
            "You described the cat's own side; the question asks for yours.",
            "Is the cat left or right of the vase? Point at both before you say it.",
        ),
    ),
    Asked(
        "What does the bar for May read, in thousands?",
        (),
        ("The bar for May reads 23 thousand.",),
        "23",
        "23",
        "twenty-three",
        "three more than twenty",
        (
            "Follow the top of the bar for May to the axis and read between the marks.",
            "The axis is in thousands, so do not add the zeros.",
            "April stands right beside May; make sure that you read the right bar.",
            "The marks of the axis are five apart, so judge the distance to the nearest.",
            "Read the legend once more: May has two bars, and one of them is last year's.",
            "You may have read the bar of March in place of the one for May.",
        ),
    ),
    Asked(
        "Which city does the sign name?",
        (),
        ("The sign names Lisbon.",),
        "Lisbon",
        "Lisbon",
        "the city of Lisbon",
        "the capital that starts with Lis",
        (
            "Zoom in on the sign and read it letter by letter.",
            "The sign has two lines; the city stands in the smaller one.",
            "Do not go by the flag; the sign itself names the city.",
            "The first letter is partly hidden by a branch.",
            "You named a country, but the question asks for a city.",
            "The sign is a road sign, so the name stands beside a distance.",
        ),
    ),
    Asked(
        "Can the girl reach the ball?",
        (),
        ("No, the fence keeps the girl from the ball.",),
        "no",
        "no",
        "no, she cannot",
        "the opposite of yes",
        (
            "Look at what lies between the girl and the ball.",
            "There is no need to guess how far it is: look at the ground between them.",
            "Think about whether anything is in her way, yes or no.",
            "Note how high her hand is, and where the ball lies.",
            "No detail of her dress matters here; look at the ball.",
            "Say what you see between the two before you answer.",
        ),
    ),
    Asked(
        "Which of the four panels shows the inner ear?",
        ("panel A", "panel B", "panel C", "panel D"),
        ("Panel C shows the cochlea, which belongs to the inner ear.",),
        "C",
        "panel C",
        "the third panel",
        "the panel between panel B and panel D",
        (
            "The inner ear holds a part that is coiled like a snail; look for it in the panels.",
            "Go through the four panels and name what each shows.",
            "The eardrum is not the inner ear, so a panel with the eardrum alone is out.",
            "A panel may show more than one part; look at its labels.",
            "You chose by the size of the panel; go by the labels instead.",
            "See which organ each of the panels is about before you choose.",
        ),
    ),
    Asked(
        "How many of the two lamps are lit?",
        (),
        ("Both lamps are dark, so 0 are lit.",),
        "0",
        "0",
        "zero",
        "one less than one",
        (
            "A lamp in sunlight can look lit; look at the bulb.",
            "Look at each of the two lamps for a glow on the wall.",
            "See whether the shade lets light through from inside.",
            "The window makes one of them look bright.",
            "Ask of each lamp whether it throws a shadow.",
            "The two lamps are alike, so compare them.",
        ),
    ),
    Asked(
        "What is the pressure that the gauge shows, in bar?",
        (),
        ("The needle stands at 2.5 bar.",),
        "2.5",
        "2.5",
        "2.5 bar",
        "half of 5",
        (
            "Each small mark of the gauge is a tenth; count from the last number.",
            "There are two scales on the gauge; the outer one is in bar.",
            "Read where the tip of the needle is, not its tail.",
            "The red zone is not what is asked; read the needle.",
            "You read the scale in psi, but the question asks for bar.",
            "Look straight at the gauge: the needle lies a little above its middle mark.",
        ),
    ),
)

VERBATIM = (
    "{truth}",
    "I see it so: {truth}",
    "The answer is {secret}.",
    "It is {secret}, as you will see.",
    "You should have said {secret}.",
    "Look again: it must be {secret}.",
    "Everything points to this: {secret}.",
    "I answered {secret} and it was right.",
)
OTHER_WORDS = (
    "The answer is {other}.",
    "You should arrive at {other}.",
    "It is {other}, if you look closely.",
    "I would say {other}.",
    "Look once more and you will find: {other}.",
    "My answer was {other}.",
)
LETTER = (
    "The answer is {letter}.",
    "Choose option {letter}.",
    "I would go with {letter}) here.",
    "It is ({letter}).",
    "Option {letter} fits what the picture shows.",
    "Pick the letter '{letter}'.",
    "Mark the {place} option.",
)
NEAR = ("Think of {near}.", "It is {near}.", "The answer is {near}.", "What I found was {near}.")
POLITE = (
    "",
    "Take your time. ",
    "You were close. ",
    "I solved this one. ",
)


def leaks() -> Iterator[Case]:
    """Yield the cases that give something away."""
    for one in ASKED:
        given = one[:4]
        places = ("first", "second", "third", "fourth")
        for lead in POLITE:
            for form in VERBATIM:
                yield Case(*given, lead + form.format(truth=one.truths[0], secret=one.secret), "verbatim")
            for form in OTHER_WORDS:
                yield Case(*given, lead + form.format(other=one.other), "other words")
            for form in NEAR:
                yield Case(*given, lead + form.format(near=one.near), "comparison")
            if one.choices:
                place = places["ABCD".index(one.answer)]
                for form in LETTER:
                    yield Case(*given, lead + form.format(letter=one.answer, place=place), "choice letter")


def clean() -> Iterator[Case]:
    """Yield the cases that give nothing away."""
    for one in ASKED:
        for lead in POLITE:
            for hint in one.clean:
                yield Case(*one[:4], lead + hint, None)


CASES = (*leaks(), *clean())
