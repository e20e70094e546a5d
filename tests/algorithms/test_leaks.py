"""The leak filter on hints whose leaks are known: what it stops by form, and how many clean hints it drops.

Six sets: `known.py`, written beside the filter; `blind.py`, `blind_again.py`, `by_author_three.py`, `by_author_four.py`
and `by_author_five.py`, each by an author who had seen neither the filter nor the other sets. The filter's weights are fitted
on all six, so the floors below only keep a change from making it worse unseen; what it does on hints of an author it has
not seen is measured by leaving one out (`python -m benchmarks.leaks`; docs/refinement.md has the figures).
"""

import importlib.util
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from dokimasia.algorithms.leaks.check import find_leaks

FLOOR = 0.92
"""Share of each form that is stopped in every set, but for those below."""

FLOORS = {
    ("known", "synonym"): 0.9,
    ("by_author_three", "synonym"): 0.84,
    ("by_author_six", "elimination"): 0.86,
    ("by_author_six", "arithmetic"): 0.9,
    ("by_author_six", "comparison"): 0.9,
    ("by_author_six", "synonym"): 0.9,
}
"""The set of author 6 is the one that the weights have not seen."""

FORMS = {
    "known": 10,
    "blind": 5,
    "blind_again": 10,
    "by_author_three": 10,
    "by_author_four": 10,
    "by_author_five": 10,
    "by_author_six": 10,
}
DROPPED = 0.01
DROPPED_OF = {"by_author_six": 0.052}


def load(name: str) -> ModuleType:
    """Return one of the sets, which lie beside this file and in no package."""
    path = Path(__file__).parent / "leak_sets" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"leak_set_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", list(FORMS))
def test_forms_are_stopped_and_clean_hints_pass(name: str) -> None:
    """Each form is stopped at least as often as measured, and no more clean hints are dropped than measured."""
    seen: Counter[str] = Counter()
    stopped: Counter[str] = Counter()
    for case in load(name).CASES:
        form = case.form or "clean"
        leaks = find_leaks(
            case.hint,
            question=case.question,
            choices=case.choices,
            ground_truths=case.truths,
            final_answer=case.answer,
        )
        seen[form] += 1
        stopped[form] += bool(leaks)
    assert seen["clean"] >= 200
    assert len(seen) == FORMS[name] + 1
    assert stopped["clean"] <= DROPPED_OF.get(name, DROPPED) * seen["clean"]
    for form in seen - Counter({"clean": seen["clean"]}):
        floor = FLOORS.get((name, form), FLOOR)
        assert stopped[form] >= floor * seen[form], f"{form}: {stopped[form]} of {seen[form]}"


def test_the_builders_own_set_covers_all_forms() -> None:
    """The half written beside the filter has at least 25 cases of each of the ten forms and 250 clean hints."""
    counts = Counter(case.form for case in load("known").CASES)
    assert counts.pop(None) >= 250
    assert len(counts) == 10
    assert min(counts.values()) >= 25


def test_a_word_of_the_question_is_no_leak_unless_it_is_said_to_be_the_answer() -> None:
    """Left and right may be named where the question names both; saying which it is gives it away."""
    asked = partial(find_leaks, question="Is the lamp left or right of the bed?", final_answer="left")
    assert asked("Look at what stands left and right of the bed.") == ()
    assert asked("Go from the left end of the wall to the right.") == ()
    assert [leak.form for leak in asked("The answer is left.")] == ["verbatim"]
    assert [leak.form for leak in asked("It is not right.")] == ["elimination"]


def test_vectors_find_what_words_do_not() -> None:
    """With embeddings a sentence that means the secret is a leak; one that means the question is none."""
    said, secret, question = "Look at the rug once more.", "A cat is asleep.", "Who sleeps?"
    vectors = {said: (1.0, 0.1), secret: (1.0, 0.0), question: (0.0, 1.0)}
    found = find_leaks(said, question=question, ground_truths=(secret,), vectors=vectors)
    assert [leak.form for leak in found] == ["embedding"]
    vectors[question] = (1.0, 0.1)
    assert find_leaks(said, question=question, ground_truths=(secret,), vectors=vectors) == ()


def test_a_leak_behind_a_preamble_that_guides_is_found_by_its_clause() -> None:
    """Guidance before it does not cover a clause that tells, and the passage that told is what is named."""
    told = "Compare the bars once more, mind the legend, and you will see that it is the same as the wheels of a car."
    found = find_leaks(told, question="How many boxes are there?", final_answer="4")
    assert found
    assert "wheels of a car" in found[0].excerpt


@pytest.mark.parametrize(
    ("question", "told", "answer", "form"),
    [
        ("What time is it?", "The clock stands at half past three.", "15:30", "number"),
        ("How heavy is it?", "It weighs 1.2 kilograms, as the display has it.", "1200 g", "number"),
        ("What colour is it?", "Golf, Romeo, Echo, Echo, November: that is its colour.", "green", "spelled"),
        ("What kind of animal sleeps on the rug?", "A feline sleeps on the rug there.", "a cat", "synonym"),
    ],
)
def test_a_value_in_another_guise_is_named(question: str, told: str, answer: str, form: str) -> None:
    """Clocks, quantities, codes and other names are read as what they stand for."""
    assert find_leaks(told, question=question, final_answer=answer)[0].form == form


@pytest.mark.parametrize(
    ("question", "told", "answer"),
    [
        ("What time does the display show?", "The digits on the display, 15:30, were misread.", "15:30"),
        ("What time does the display show?", "It is 3:30 pm on the platform, isn't it?", "15:30"),
        ("How many votes did she get?", "The figure is 1200 without any separator.", "1,200"),
        ("How many blue books are there?", "Recount the spines; you should end at 4 blue ones.", "4"),
        ("What kind of bird sits there?", "Look into those large eyes once more. An owl!", "owl"),
        ("How long is the trail?", "Walking 4 km an hour, you'd need three hours for it.", "12 km"),
        ("What does the teapot cost?", "Pay with a twenty and you get $7.50 back.", "$12.50"),
        ("In which year was it built?", "It was built four years before 1900.", "1896"),
        ("What number does the plate show?", "The house is over 16 and under 18.", "17"),
        ("What is the share of tea?", "First a three, then a five, and a percent sign at the end.", "35%"),
    ],
)
def test_a_value_or_a_word_of_the_answer_is_told_for_certain(question: str, told: str, answer: str) -> None:
    """What leaves no doubt is found whatever the weights say."""
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
        ("What is in the vase?", "Tulips, lilies and roses differ in their petals; compare the layers.", "roses"),
        ("What colour is the car?", "The red awning of the florist is irrelevant; look at the vehicle.", "red"),
    ],
)
def test_what_stands_in_a_row_or_by_the_way_is_no_leak(question: str, said: str, answer: str) -> None:
    """A value among others of its kind, a count of something else and a word said by the way give nothing away."""
    assert find_leaks(said, question=question, final_answer=answer) == ()


def test_the_only_choice_that_is_named_is_told() -> None:
    """One choice named in a statement or in a tag question is told; all of them, or one by the way, are not."""
    asked = partial(
        find_leaks, question="Which animal sits there?", choices=("cat", "dog", "rabbit", "parrot"), final_answer="B"
    )
    assert asked("Look at the snout again. Isn't that a Dog?")
    assert asked("Dogs curl up like the one between these cushions; reconsider.")
    assert asked("Neither cat, rabbit nor parrot.")
    assert asked("Compare the body with that of a cat, a dog, a rabbit and a parrot in turn.") == ()


def test_without_a_secret_there_is_no_leak() -> None:
    """A text gives nothing away where there is nothing to give away."""
    assert find_leaks("The answer is B, look at the red door.", question="What is it?") == ()


def test_a_long_text_is_checked_to_its_end() -> None:
    """What stands behind thousands of harmless words is found all the same."""
    text = "Look at the upper shelf again. " * 800 + "There are exactly four cups."
    assert find_leaks(text, question="How many cups?", final_answer="4")
