"""Each analysis finds what was planted, finds nothing where nothing was, and says what it cannot say."""

import random
from collections.abc import Callable

import pytest

from dokimasia.methods.audit.agreement import Rating, agreement, coverage, two_judges
from dokimasia.methods.audit.analyses import consistency, failures_by_domain, length_bias, reliability_gap
from dokimasia.methods.audit.figures import AuditRow, audit_figures

Skill = Callable[[int], float]


def rows_of(
    skills: dict[str, float],
    *,
    n: int = 60,
    seed: int = 0,
    judge: float = 0.0,
    words: Callable[[int, bool], int] | None = None,
) -> list[AuditRow]:
    """Responses of models whose facts are right at the rate of their skill; a lax judge lets a fault pass at its rate."""
    rows: list[AuditRow] = []
    for name, skill in skills.items():
        draw = random.Random(f"{seed}/{name}")
        for number in range(n):
            true = [draw.random() < skill for _ in range(10)]
            lax = random.Random(f"{seed}/{name}/{number}/judge")
            said = [one or lax.random() < judge for one in true]
            rows.append(
                AuditRow(
                    sample_id=f"s{number}",
                    cluster=f"c{number}",
                    domain=("interface", "natural")[number % 2],
                    model=name,
                    repeat=0,
                    rubrics=(4, 6),
                    judged=(tuple(said[:4]), tuple(said[4:])),
                    words=words(number, all(said[:4])) if words else 100 + draw.randrange(50),
                    response=f"{name}-{number}",
                )
            )
    return rows


SKILLS = {"best": 0.97, "good": 0.9, "fair": 0.8, "poor": 0.6}


def test_reliability_gap() -> None:
    """The gap is item accuracy less gate pass rate, widest where facts are neither rare nor sure."""
    found = reliability_gap(audit_figures(rows_of(SKILLS), seed=0))
    for one in found["models"].values():
        assert one["gap"]["mean"] == pytest.approx(one["item"] - one["gate"], abs=1e-5)
    assert found["mean"] == pytest.approx(sum(one["gap"]["mean"] for one in found["models"].values()) / 4, abs=1e-5)
    assert "poor" in found["says"]
    assert reliability_gap({"models": {}})["mean"] is None


def test_failures_by_domain_are_counts_and_rates() -> None:
    """Failed gates add up over domains; without any failure nothing is blamed."""
    rows = rows_of(SKILLS)
    found = failures_by_domain(rows)
    failed = sum(row.judged is not None and not all(row.judged[0]) for row in rows)
    assert sum(one["failed"] for one in found["all"].values()) == failed
    assert sum(one["share"] for one in found["models"]["poor"].values()) == pytest.approx(1)
    perfect = failures_by_domain(rows_of({"sure": 1.0}))
    assert perfect["says"] == "No gate failed in any domain."
    assert {one["share"] for one in perfect["all"].values()} == {None}


def test_consistency_over_models() -> None:
    """Skill drives both streams, so gates foretell easy-wrong means; two models or equal ones say nothing."""
    rows = rows_of(SKILLS)
    found = consistency(rows, audit_figures(rows, seed=0))
    assert found["n"] == 4
    assert found["r_squared"] > 0.9
    assert found["low"] <= found["r_squared"] <= found["high"]
    two = rows_of({"a": 0.9, "b": 0.5})
    assert consistency(two, audit_figures(two, seed=0))["r_squared"] is None
    same = rows_of({"a": 1.0, "b": 1.0, "c": 1.0})
    assert "no line" in consistency(same, audit_figures(same, seed=0))["says"]


def test_agreement_with_ratings_of_models_and_of_responses() -> None:
    """Planted quality is found with and without the gate; ratings of models and of responses are told apart."""
    rows = rows_of(SKILLS)
    found = agreement(rows, [Rating(name, skill) for name, skill in SKILLS.items()] + [Rating("unknown", 1.0)])
    assert (found["level"], found["n"], found["unmatched"]) == ("model", 4, 1)
    assert found["gated"]["spearman"]["value"] == found["ungated"]["spearman"]["value"] == 1
    assert found["gated"]["pearson"]["low"] is None
    each = [Rating(row.model, sum(row.judged[0]) + sum(row.judged[1]), row.sample_id) for row in rows if row.judged]
    found = agreement(rows, each)
    assert (found["level"], found["n"]) == ("response", 240)
    assert found["plain"]["pearson"]["value"] == pytest.approx(1)
    assert found["gated"]["kendall"]["low"] < found["gated"]["kendall"]["value"] < found["gated"]["kendall"]["high"]
    assert found["gated"]["pearson"]["value"] < found["plain"]["pearson"]["value"]
    assert agreement(rows, [Rating("best", 1.0)])["gated"]["pearson"] is None


def test_length_bias_is_found_where_it_is_planted_and_nowhere_else() -> None:
    """Where long responses score, r is large and p small; where length is chance, false alarms stay at their rate."""
    biased = length_bias(rows_of({"m": 0.8}, words=lambda number, passed: 300 if passed else 100 + number % 7))
    assert biased["models"]["m"]["r"] > 0.7
    assert biased["models"]["m"]["p"] < 1e-6
    alarms = sum(length_bias(rows_of({"m": 0.8}, seed=seed))["models"]["m"]["p"] < 0.05 for seed in range(400))
    assert alarms <= 31
    flat = length_bias(rows_of({"m": 0.8}, words=lambda number, passed: 100))
    assert flat["models"]["m"]["r"] is None


def test_two_judges_compared() -> None:
    """A lax judge shifts scores up and keeps the order; single decisions on the same responses are compared one by one."""
    strict, lax = rows_of(SKILLS), rows_of(SKILLS, judge=0.3)
    found = two_judges(strict, lax, names=("strict", "lax"), seed=0)
    assert found["same_order"] is True
    assert all(one["shift"]["mean"] > 0 for one in found["models"].values())
    assert found["decisions"]["n"] == 4 * 60 * 10
    agreed = sum(
        a == b
        for x, y in zip(strict, lax, strict=True)
        if x.judged and y.judged
        for group in (0, 1)
        for a, b in zip(x.judged[group], y.judged[group], strict=True)
    )
    assert found["decisions"]["equal"] == pytest.approx(agreed / 2400, abs=1e-6)
    assert 0 < found["decisions"]["kappa"] < 1
    same = two_judges(strict, strict, names=("a", "b"), seed=0)
    assert same["models"]["best"]["shift"] == {
        "mean": 0,
        "low": pytest.approx(0, abs=25),
        "high": pytest.approx(0, abs=25),
    }
    assert two_judges(strict, [], names=("a", "b"), seed=0)["models"] == {}


def test_coverage_is_steadier_with_more_rubrics_and_says_the_shift() -> None:
    """The deviation over draws falls from 20 to 80 %, scores by fewer gates lie higher, and draws are reproducible."""
    rows = rows_of(SKILLS, n=120)
    found = coverage(rows, seed=3)
    assert found["shares"]["80"]["deviation"] < found["shares"]["20"]["deviation"]
    assert found["shares"]["20"]["shift"] > found["shares"]["80"]["shift"] > 0
    assert found == coverage(rows[::-1], seed=3) | {"says": found["says"]}
    assert found["shares"]["20"]["models"].keys() == SKILLS.keys()
    assert coverage([], seed=0)["says"] == "No response was judged."
