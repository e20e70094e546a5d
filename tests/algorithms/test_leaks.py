"""The certain rules of the leak check on hints whose leaks are known: what they stop by form, and how many clean hints.

The seven sets are development data: the rules were worked out with all of them in view. Their authors wrote leaks of
other forms, too (sums, riddles, paraphrases, what is left over); those are left to the judge.
"""

from collections import Counter
from functools import partial

import pytest

from dokimasia.algorithms.leaks.check import find_leaks
from tests.algorithms.leak_sets.loading import SETS, read_set

FORMS = ("verbatim", "normal form", "number words", "choice letter")
STOPPED = 0.98
"""Share of what is told outright that must be stopped, of each form."""

CLEAN = 0.005
"""Share of clean hints that may be stopped, at most."""


def test_what_is_told_outright_is_stopped_and_clean_hints_pass() -> None:
    """Over the seven sets, at least 98 % of each form told outright is stopped, and at most 0.5 % of clean hints."""
    cases = [case for name in SETS for case in read_set(name)]
    seen = Counter(case.form for case in cases)
    stopped = Counter(
        case.form
        for case in cases
        if (case.form in FORMS or case.form is None)
        and find_leaks(
            case.hint,
            question=case.question,
            choices=case.choices,
            ground_truths=case.truths,
            final_answer=case.answer,
        )
    )
    assert seen[None] >= 1700
    assert {form: stopped[form] for form in FORMS if stopped[form] < STOPPED * seen[form]} == {}
    assert stopped[None] <= CLEAN * seen[None]


def test_a_word_of_the_question_is_no_leak_unless_it_is_said_to_be_the_answer() -> None:
    """Left and right may be named where the question names both; saying which it is gives it away."""
    asked = partial(find_leaks, question="Is the lamp left or right of the bed?", final_answer="left")
    assert asked("Look at what stands left and right of the bed.") == ()
    assert asked("Go from the left end of the wall to the right.") == ()
    assert [leak.form for leak in asked("The answer is left.")] == ["verbatim"]


@pytest.mark.parametrize(
    ("question", "told", "answer"),
    [
        ("What time is it?", "The clock stands at half past three.", "15:30"),
        ("How heavy is it?", "It weighs 1.2 kilograms, as the display has it.", "1200 g"),
        ("What time does the display show?", "The digits on the display, 15:30, were misread.", "15:30"),
        ("What time does the display show?", "It is 3:30 pm on the platform, isn't it?", "15:30"),
        ("How many votes did she get?", "The figure is 1200 without any separator.", "1,200"),
        ("How many blue books are there?", "Recount the spines; you should end at 4 blue ones.", "4"),
        ("How cold is it?", "In Fahrenheit that would be 23 °F.", "-5 °C"),
        ("What is the share of tea?", "The slice takes three eighths of the circle.", "3/8"),
        ("How wide is it?", "You get one and a half metres.", "1.5 m"),
        ("When does it open?", "In other countries one writes 2021-05-05.", "5 May 2021"),
    ],
)
def test_a_value_is_told_in_any_notation(question: str, told: str, answer: str) -> None:
    """Clocks, quantities, shares, dates and numbers are read as what they stand for."""
    assert "number" in {leak.form for leak in find_leaks(told, question=question, final_answer=answer)}


@pytest.mark.parametrize(
    ("question", "told", "answer"),
    [
        ("What kind of bird sits there?", "Look into those large eyes once more. An owl!", "owl"),
        ("What is it made of?", "The slats are wooden, whatever the paint suggests.", "wood"),
        ("What does the sign say?", "Look closely: c l o s e d.", "closed"),
        ("What does the sign say?", "As a hashtag it would be #FreshFishDaily.", "Fresh fish daily"),
        ("What number does the plate show?", "It begins with four, eight and two.", "482"),
        ("What number does the striker wear?", "As a Roman numeral it is XVII.", "17"),
        (
            "Where does the bus go?",
            "Over the windscreen it says Central Stn., which is short for it.",
            "Central Station",
        ),
    ],
)
def test_the_answers_own_word_is_told_however_it_is_written(question: str, told: str, answer: str) -> None:
    """The word itself, one made from it, its abbreviation, and its letters with other gaps are the word."""
    assert find_leaks(told, question=question, final_answer=answer)


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        (
            "What time does the clock show?",
            "The board lists trains at 14:30, 15:30 and 16:30; look at the clock.",
            "15:30",
        ),
        ("How much battery is left?", "A bar at 60%, 80% or 100% is hard to judge, so read the digits.", "80%"),
        ("How many players wear red?", "The five spectators with red scarves don't count as players.", "5"),
        ("How many cups are there?", "Step 4 of your reasoning skips a shelf.", "4"),
        ("What is in the vase?", "Tulips, lilies and roses differ in their petals; compare the layers.", "roses"),
        ("What colour is the car?", "The red awning of the florist is irrelevant; look at the vehicle.", "red"),
    ],
)
def test_what_stands_in_a_row_or_by_the_way_is_no_leak(question: str, said: str, answer: str) -> None:
    """A value among others of its kind, a label, a count of something else and a word said by the way tell nothing."""
    assert find_leaks(said, question=question, final_answer=answer) == ()


def test_the_only_choice_that_is_named_is_told() -> None:
    """One choice named in a statement or in a tag question is told; all of them, or one by the way, are not."""
    asked = partial(
        find_leaks, question="Which animal sits there?", choices=("cat", "dog", "rabbit", "parrot"), final_answer="B"
    )
    assert asked("Look at the snout again. Isn't that a Dog?")
    assert asked("Dogs curl up like the one between these cushions; reconsider.")
    assert asked("Compare the body with that of a cat, a dog, a rabbit and a parrot in turn.") == ()


def test_a_ground_truth_is_told_by_quoting_it_or_by_its_number() -> None:
    """Five of its words in a row, or its number beside what it counts, give it away; the number alone does not."""
    asked = partial(
        find_leaks, question="Is there more fruit than cake?", ground_truths=("There are three apples on the tray.",)
    )
    assert asked("You will see that there are three apples on the tray, and go on from there.")
    assert asked("Count 3 apples first.")
    assert asked("Go over the table three times.") == ()


CHOICES = ("a kite", "a drum", "a lamp", "a boot")


def placed(text: str, right: int) -> bool:
    """Whether a text tells the place of the choice at `right`."""
    found = find_leaks(text, question="What does the child hold?", choices=CHOICES, final_answer=CHOICES[right])
    return bool(found)


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
        ("Take the last but one of the options.", 2),
        ("Choose the letter between A and C.", 1),
        ("It is the one listed right after the drum.", 2),
    ],
)
def test_a_place_that_is_told(text: str, right: int) -> None:
    """The right letter or place as the one to choose is found; the same of a wrong choice gives nothing away."""
    assert placed(text, right)
    assert not placed(text, (right + 1) % len(CHOICES)) or "drum" in text


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
    assert not placed(text, 1)


def test_without_choices_there_is_no_place() -> None:
    """A question without a list has no letters."""
    assert find_leaks("It's B.", question="What is it?", final_answer="a drum") == ()


def test_without_a_secret_there_is_no_leak() -> None:
    """A text gives nothing away where there is nothing to give away."""
    assert find_leaks("The answer is B, look at the red door.", question="What is it?") == ()


def test_a_long_text_is_checked_to_its_end() -> None:
    """What stands behind thousands of harmless words is found all the same."""
    text = "Look at the upper shelf again. " * 800 + "There are exactly four cups."
    assert find_leaks(text, question="How many cups?", final_answer="4")


def test_the_order_of_steps_is_no_value() -> None:
    """That something is to be done first or third tells no number; that it is the third tells one."""
    asked = partial(
        find_leaks,
        question="Should I add sugar?\nIn which step does one find the egg and the milk?",
        ground_truths=("Step 1",),
    )
    assert asked("First find the numbered circle that shows the eggs and the milk, then compare.") == ()
    assert asked("First, find the eggs. Second, look for the milk.") == ()
    third = partial(find_leaks, question="In which step is the sugar?", final_answer="Step 3")
    assert third("Third, look at the bowl.") == ()
    assert third("You want the third step.") != ()


def test_a_leak_quotes_its_sentence_whole() -> None:
    """The passage is a sentence as it stands, however long it is and whatever stands around it."""
    long = "Go " + "on and on, " * 40 + "until you have counted the twelve cups."
    [leak, *_] = find_leaks(f"Start here. {long} Then stop.", question="How many cups?", final_answer="12")
    assert leak.excerpt == long
