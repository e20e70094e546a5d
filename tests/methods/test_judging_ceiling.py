"""The human ceiling of a comparison of judging methods: people among themselves beside each judge and method."""

import numpy as np
import pytest

from dokimasia.domain.judging.judgements import HumanRanking
from dokimasia.methods.judging.figures import JudgingTables, comparisons_of, judging_tables
from dokimasia.people.judgements import ceiling_rows, ceiling_tables
from dokimasia.report.blocks import plain
from dokimasia.report.fields import as_json

IMAGES, MODELS = 20, 3
PEOPLE = ("ann", "ben", "cho")


def tables(people: tuple[str, ...] = PEOPLE) -> JudgingTables:
    """Figures of people who each see the order of merit with an error of their own, and of two methods of a judge."""
    rng = np.random.default_rng(7)
    merit = rng.normal(size=(IMAGES, MODELS))
    rankings: list[HumanRanking] = []
    for who in people:
        seen = merit + rng.normal(scale=0.7, size=merit.shape)
        for row in range(IMAGES):
            scores = {f"m{at}": float(seen[row, at]) for at in range(MODELS)}
            rankings.append(HumanRanking(sample=f"s{row}", annotator=who, scores=scores))
    by_method = {"atom": merit, "pointwise": rng.normal(size=merit.shape)}
    scores = {
        method: {(f"s{row}", f"m{at}"): float(table[row, at]) for row in range(IMAGES) for at in range(MODELS)}
        for method, table in by_method.items()
    }
    del scores["pointwise"]["s0", "m0"]
    samples = [f"s{row}" for row in range(IMAGES)]
    comparisons = comparisons_of(rankings, {name: name for name in samples}, {}, seed=0)
    return judging_tables(comparisons, {"j": scores}, seed=0)


def test_people_and_each_method_are_held_against_the_same_panels() -> None:
    """A method that knows the merit is above people among themselves, one that guesses is below; failures are left out."""
    methods = tables().results["j"]
    knowing, guessing = methods["atom"].ceiling, methods["pointwise"].ceiling
    assert knowing is not None
    assert guessing is not None
    assert knowing.n == IMAGES * 3 * len(PEOPLE)
    assert guessing.n == knowing.n - 2 * len(PEOPLE)  # two pairs rest on the score that failed
    assert guessing.judge.mean < knowing.people.mean < knowing.judge.mean
    assert knowing.difference.low is not None
    test, failed = methods["atom"].replacement, methods["pointwise"].replacement
    assert test is not None
    assert failed is not None
    assert (test.passed, test.winning_rate) == (True, 1.0)
    assert not failed.passed
    assert failed.warning == "2 items on which the judge failed are left out"


def test_the_ceiling_of_people_is_their_agreement_pair_by_pair() -> None:
    """With everything ranked by everybody, a person agrees with the others as often as two people agree."""
    measured = tables()
    ceiling = measured.results["j"]["atom"].ceiling
    assert measured.people is not None
    assert ceiling is not None
    assert ceiling.people.mean == pytest.approx(measured.people.accuracy.share, abs=1e-6)


def test_one_person_has_no_ceiling() -> None:
    """Where nobody ranked a pair twice the figures have neither a ceiling nor a test, in JSON neither a field."""
    method = tables(("ann",)).results["j"]["atom"]
    assert method.ceiling is None
    assert method.replacement is None
    assert not {"ceiling", "replacement"} & as_json(method).keys()


def test_the_table_names_judge_and_people() -> None:
    """A row has the number of comparisons, people, the judge, their difference and the test."""
    methods = tables().results["j"]
    (table,) = ceiling_tables(ceiling_rows({name: (row.ceiling, row.replacement) for name, row in methods.items()}))
    rows = {plain(row[0]): [plain(cell) for cell in row[1:]] for row in table.rows}
    assert rows["atom"][0] == "180"
    assert rows["atom"][-1] == "1.00, can"
    assert rows["pointwise"][-1].endswith("not shown")
