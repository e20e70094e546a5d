"""The leak filter on hints whose leaks are known: what it stops by form, and how many clean hints it drops.

Three sets: `known.py`, written beside the filter; `blind.py` and `blind_again.py`, each written by someone who had seen
neither the filter nor the other sets, and scored once before anyone looked at what it missed (docs/refinement.md has those
first figures). The floors below are what the filter reaches since, so that no later change makes it worse unseen.
"""

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from dokimasia.algorithms.leaks import find_leaks

FLOORS = {
    "known": {"verbatim": 0.99, "other words": 0.96, "comparison": 0.99, "choice letter": 0.99},
    "blind": {
        "near paraphrase": 0.91,
        "normal form": 0.91,
        "spelled out": 0.99,
        "elimination": 0.85,
        "arithmetic": 0.89,
    },
    "blind_again": {
        "verbatim": 0.95,
        "normal form": 0.75,
        "number words": 0.71,
        "choice letter": 0.8,
        "near paraphrase": 0.83,
    },
}
DROPPED = {"known": 0.0, "blind": 0.056, "blind_again": 0.06}


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


@pytest.mark.parametrize("name", list(FLOORS))
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
    assert stopped["clean"] <= DROPPED[name] * seen["clean"]
    for form, floor in FLOORS[name].items():
        assert stopped[form] >= floor * seen[form], f"{form}: {stopped[form]} of {seen[form]}"


def test_a_word_of_the_question_is_no_leak_unless_it_is_said_to_be_the_answer() -> None:
    """Left and right may be named where the question names both; saying which it is gives it away."""
    asked = {"question": "Is the lamp left or right of the bed?", "final_answer": "left"}
    assert find_leaks("Look at what stands left and right of the bed.", **asked) == ()
    assert find_leaks("Go from the left end of the wall to the right.", **asked) == ()
    assert [leak.form for leak in find_leaks("The answer is left.", **asked)] == ["verbatim"]
    assert [leak.form for leak in find_leaks("It is not right.", **asked)] == ["elimination"]


def test_vectors_find_what_words_do_not() -> None:
    """With embeddings a sentence that means the secret is a leak; one that means the question is none."""
    said, secret, question = "A feline sleeps there.", "A cat is asleep.", "Who sleeps?"
    vectors = {said: (1.0, 0.1), secret: (1.0, 0.0), question: (0.0, 1.0)}
    found = find_leaks(said, question=question, ground_truths=(secret,), vectors=vectors)
    assert [leak.form for leak in found] == ["embedding"]
    vectors[question] = (1.0, 0.1)
    assert find_leaks(said, question=question, ground_truths=(secret,), vectors=vectors) == ()
