"""Criteria that real models drew when they were asked as in the paper, held against the rules of this project."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from dokimasia.algorithms.criteria import check_criteria, with_final
from dokimasia.domain.criterion import Criterion
from dokimasia.parsing.criteria import parse_criteria


def drawn(shared_data: Path) -> Iterator[tuple[str, str, tuple[Criterion, ...]]]:
    """Question, final answer and criteria of each exchange in which criteria were drawn."""
    for line in (shared_data / "rehearsal" / "exchanges.jsonl").read_text().splitlines():
        exchange = json.loads(line)
        system, user = exchange["messages"][0]["text"], exchange["messages"][-1]["text"]
        if system.startswith("You turn a model solution into atomic criteria"):
            question = re.search(r"<<<QUESTION \w+>>>\n(.*?)\n<<<END", user, re.DOTALL)
            answer = re.search(r"Final answer: (.*?)\n<<<END CHAIN", user, re.DOTALL)
            assert question is not None
            assert answer is not None
            yield question[1], answer[1], parse_criteria(exchange["reply"], image_count=1)


def test_all_speak_of_the_solution_and_none_breaks_a_rule_of_the_paper(shared_data: Path) -> None:
    """Every one of the ten sets is in order as published, and every question in them is refused here, in words."""
    sets = list(drawn(shared_data))
    assert len(sets) == 10
    for question, _, criteria in sets:
        assert check_criteria(criteria, question, count=(3, 5), wording=False) == []
        refused = {broken.number for broken in check_criteria(criteria, question) if "'the solution'" in broken.text}
        assert refused == set(range(1, len(criteria) + 1))


def test_put_to_the_image_they_are_accepted(shared_data: Path) -> None:
    """The same questions without their talk of a solution break no rule of wording but that of one thing."""
    left: list[str] = []
    for question, _, criteria in drawn(shared_data):
        plain = [
            one.model_copy(update={"question": re.sub(r"\bthe solution\b", "the observer", one.question)})
            for one in criteria
        ]
        left += [broken.text for broken in check_criteria(plain, question)]
    assert left == ["the question of criterion 1 asks for more than one thing"]


def test_a_rule_finds_the_final_answer_where_its_words_are_the_chains(shared_data: Path) -> None:
    """The last criterion is the final answer in six sets by its words; in the others no criterion is taken for it."""
    found = [[one.final for one in with_final(criteria, answer)] for _, answer, criteria in drawn(shared_data)]
    assert sum(any(flags) for flags in found) == 6
    assert all(not any(flags[:-1]) for flags in found)
