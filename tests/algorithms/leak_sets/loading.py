"""Sets of labelled hints for developing the leak check, a JSON line a question; the README beside them says whose."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SETS = ("known", "blind", "blind_again", "by_author_three", "by_author_four", "by_author_five", "by_author_six")


class LabelledHint(NamedTuple):
    """One hint on one question, and whether it gives the question's answer or a ground truth away.

    `choices` are the texts of the choices in their order (A, B, C ...), empty for an open question; `truths` are the
    ground truths g; `answer` is the final answer, a choice's letter in some questions that have choices. `form` is how
    the hint gives it away, None for a clean hint.
    """

    question: str
    choices: tuple[str, ...]
    truths: tuple[str, ...]
    answer: str
    hint: str
    form: str | None


def read_set(name: str) -> Iterator[LabelledHint]:
    """Yield the hints of a set, question by question."""
    for line in Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for hint in row["hints"]:
            yield LabelledHint(
                row["question"], tuple(row["choices"]), tuple(row["truths"]), row["answer"], hint["hint"], hint["form"]
            )
