"""Which atoms can be fed back: on points that real judges wrote, and on all steps of the planted world."""

import pytest

from dokimasia.algorithms.points import is_method, possible_answers, why_unused
from dokimasia.simulation.truths.refinement import states_answer
from dokimasia.simulation.world import make_world

PARKING = "Which car is on the parking spot 33?"
SUGAR = "Should I add sugar when mixing egg and milk?"
PLASTIC = "Which category did the worst job in recycling, considering the plastic made and thrown out?"


@pytest.mark.parametrize(
    ("question", "answers", "point", "truth", "why"),
    [
        (SUGAR, ["no"], "In which step does the sugar stand?", "Step 2", None),
        (SUGAR, ["no"], "What follows for the sugar?", "No, it is not added then (it is added afterwards)", "final answer"),
        (SUGAR, ["no"], "What does step 1 show?", "Eggs, milk, and no sugar", None),
        (SUGAR, ["no"], "Is sugar added when mixing egg and milk?", "It comes in later", "restates the question"),
        ("How many tomatoes are there?", ["5"], "How many tomatoes does the solution count?", "Five", "final answer"),
        ("How many tomatoes are there?", ["5"], "How many tomatoes are there?", "All of them", "restates the question"),
        ("How many tomatoes are there?", ["5"], "Where do the tomatoes lie?", "On the vine", None),
        (PARKING, ["no", "empty"], "What stands on spot 33?", "No car; the spot is empty", "final answer"),
        (PARKING, ["no", "empty"], "On which spot is the blue car?", "Spot 32", None),
        (PLASTIC, ["packaging"], "How much was made of packaging?", "146M metric tonnes", None),
        ("Which is larger, the cat or the dog?", ["cat"], "How tall are the two?", "The cat is taller", "final answer"),
        ("Which is larger, the cat or the dog?", ["cat"], "Where does the cat sit?", "The cat sits in the middle", None),
        ("Which side is it, and how long?", ["KM, 23 cm"], "Which length has the side KM?", "KM is 23 cm long", None),
        ("How many bars are higher than 3?", ["2"], "How many bars are there?", "Of 6 bars 2 are red", None),
        ("How high is it?", ["13.6", "13.7"], "What comes out?", "About 13.7 (13.6 if truncated)", "final answer"),
    ],
)  # fmt: skip
def test_a_point_that_is_the_answer_or_the_question_is_told(
    question: str, answers: list[str], point: str, truth: str, why: str | None
) -> None:
    """What says the answer or asks what is asked anyway is no point; what leads there is one."""
    assert why_unused(point, truth, question=question, answers=answers) == why


def test_what_is_said_to_be_the_answer_is() -> None:
    """A criterion whose writer calls it the final answer is no point, in whatever words its ground truth stands."""
    asked = {"question": "Which animal is it?", "answers": ["a cat"]}
    assert why_unused("What is seen?", "A feline", **asked) is None
    assert why_unused("What is seen?", "A feline", **asked, final=True) == "final answer"


def test_choices_are_read_by_letter_and_text() -> None:
    """An answer that is a letter is the text of that choice."""
    asked = {"question": "Which one is it?", "choices": ("a red bus", "a blue bus"), "answers": ("B",)}
    assert why_unused("What drives there?", "It is a blue bus.", **asked) == "final answer"
    assert why_unused("What stands beside it?", "A red bicycle", **asked) is None


def test_instructions_are_no_part_of_the_question() -> None:
    """Words on the form of the answer do not hide that a point restates the question; a part of it is not the whole."""
    told = "How many cups are on the table? Answer with one number."
    assert why_unused("How many cups stand on the table?", "Some", question=told.replace("are", "stand")) is not None
    twofold = "Which bar comes after Grapes, and what is its value?"
    assert why_unused("Which bar comes after Grapes?", "Melons", question=twofold, answers=["Melons, 48"]) is None


def test_a_method_is_how_something_is_worked_out() -> None:
    """It is asked for, and told as a way to work something out; a fact of the picture is none."""
    assert is_method("How is the difference found?", "By subtracting the first value from the second")
    assert is_method("Which rule gives the area?", "Multiply the sides.")
    assert is_method("How does the solution decide it?", "It compares both shares.")
    assert not is_method("How does the man open it?", "By using a knife")
    assert not is_method("What does the woman do?", "She counts money.")
    assert not is_method("How many are left?", "Count: 5")


def test_possible_answers_are_counted() -> None:
    """Choices, yes or no, and what the question offers, up to five."""
    assert possible_answers("Which?", [*"abcde"]) == 5
    assert possible_answers("Which?", [*"abcdef"]) is None
    assert possible_answers("Is it?", (), ["No"]) == 2
    assert possible_answers("Is the lamp left or right of the bed?", (), ["left"]) == 2
    assert possible_answers("Which of red, blue or green is it?", (), ["blue"]) == 3
    assert possible_answers("Which colour has it, red, blue or green?", (), ["blue"]) == 3
    assert possible_answers("Is it salt or something else, and how much?", (), ["12 g"]) is None


def test_the_rule_agrees_with_the_planted_world() -> None:
    """Of all planted steps nearly none is taken for the answer that does not state it, and none the other way."""
    wrong = total = 0
    for scene, question in make_world(400, 3):
        del scene
        for step in question.steps:
            asked = {"question": question.text, "choices": question.choices, "answers": (question.answer,)}
            found = why_unused(step.question, step.statement, **asked)
            wrong += (found is not None) != states_answer(question, step)
            total += 1
    assert total > 1000
    assert wrong / total < 0.01
