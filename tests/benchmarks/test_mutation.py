"""Mutants are small faults, each in one place of the source; the tests of the statistics notice them."""

import ast
import inspect
from pathlib import Path

import pytest

from benchmarks.mutation.__main__ import PACKAGE, ROOT, sample_mutants
from benchmarks.mutation.mutants import mutants_of
from benchmarks.mutation.trying import Suite

SOURCE = '''
"""Text with 1 + 1 in it."""

def pick(values: list[int], least: int = 2) -> int:
    """Return 3."""
    if len(values) < least and not values[0]:
        return -max(values)
    return 0 if values else 1
'''


def test_each_fault_has_its_place(tmp_path: Path) -> None:
    """Comparisons, operators, signs, constants, names and branches change one by one; texts and types stay."""
    path = tmp_path / "picking.py"
    path.write_text(SOURCE)
    mutants = mutants_of(path)
    assert [(mutant.line, mutant.change) for mutant in mutants] == [
        (4, "2  ->  3"),
        (6, "len(values) < least and (not values[0])  ->  len(values) < least or not values[0]"),
        (6, "len(values) < least  ->  len(values) <= least"),
        (6, "not values[0]  ->  not not values[0]"),
        (6, "0  ->  1"),
        (7, "-max(values)  ->  +max(values)"),
        (7, "max  ->  min"),
        (8, "0 if values else 1  ->  1 if values else 0"),
        (8, "0  ->  1"),
        (8, "1  ->  2"),
    ]
    texts = {ast.unparse(mutant.tree()) for mutant in mutants}
    assert len(texts) == len(mutants)
    assert all(inspect.cleandoc('"""Return 3."""') in text for text in texts)


def test_the_same_seed_draws_the_same_mutants() -> None:
    """A sample is drawn from all files of the statistics, by its seed."""
    sample = sample_mutants(100, 0)
    assert sample == sample_mutants(100, 0) != sample_mutants(100, 1)
    assert len(sample) == 100
    assert len({mutant.path.name for mutant in sample}) >= 8
    assert {mutant.path.parent for mutant in sample} == {PACKAGE}


@pytest.mark.full
def test_tests_pass_on_the_source_and_fail_on_a_mutant() -> None:
    """Without a fault no test of the statistics fails; an exact interval with another tail is noticed."""
    tests = Suite(ROOT)
    assert not tests.notice(None)
    tail = next(
        mutant
        for mutant in mutants_of(PACKAGE / "shares.py")
        if mutant.change == "(1 - level) / 2  ->  (1 - level) * 2"
    )
    assert tests.notice(tail)
