"""Each analysis finds what was planted, finds nothing where nothing was, and says what it cannot say."""

import random
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import pytest
from pydantic import BaseModel

from dokimasia.algorithms.statistics import pearson
from dokimasia.errors import DataError
from dokimasia.methods.audit import analyses
from dokimasia.methods.audit.analyses import MOST_POINTS, OpenAndProprietary, Rating
from dokimasia.methods.audit.figures import AuditedModel, AuditRow, GatedScores, judged_samples, scores_by_model
from dokimasia.report.fields import as_json

Skill = Callable[[int], float]
P = ParamSpec("P")


def json_of(analysis: Callable[P, BaseModel]) -> Callable[P, dict[str, Any]]:
    """What an analysis says, as JSON."""

    def call(*rows: P.args, **options: P.kwargs) -> dict[str, Any]:
        return as_json(analysis(*rows, **options))

    return call


reliability_gap = json_of(analyses.reliability_gap)
failures_by_domain = json_of(analyses.failures_by_domain)
consistency = json_of(analyses.consistency)
length_bias = json_of(analyses.length_bias)
agreement = json_of(analyses.agreement)
two_judges = json_of(analyses.two_judges)
coverage = json_of(analyses.coverage)
other_benchmarks = json_of(analyses.other_benchmarks)


def model_scores(rows: Sequence[AuditRow], *, seed: int) -> dict[str, GatedScores]:
    """The scores of each model."""
    return scores_by_model(judged_samples(rows), seed=seed)


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
    found = reliability_gap(model_scores(rows_of(SKILLS), seed=0))
    for one in found["models"].values():
        assert one["gap"]["mean"] == pytest.approx(one["item"] - one["gate"], abs=1e-5)
    assert found["mean"] == pytest.approx(sum(one["gap"]["mean"] for one in found["models"].values()) / 4, abs=1e-5)
    assert "poor" in found["says"]
    assert reliability_gap({})["mean"] is None


def test_ties_are_said_and_a_gap_is_said_in_its_figures() -> None:
    """All domains and models that tie are named; how many single facts a model gets right is said, and not taken for many."""

    def failing(domains: dict[str, tuple[bool, ...]]) -> list[AuditRow]:
        return [
            AuditRow(f"{domain}{at}", f"{domain}{at}", domain, name, 0, (2, 1), ((passes, passes and at > 1), (True,)))
            for name in ("a", "b")
            for domain, each in domains.items()
            for at, passes in enumerate(each)
        ]

    none, half = (False,) * 4, (False, False, True, True)
    rows = failing({"data": half, "stem": none, "document": half, "natural": none})
    assert failures_by_domain(rows)["says"] == (
        "Gates fail most often in natural and stem (100 % of responses) and least in data and document (50 %)."
    )
    same = failures_by_domain(failing({"data": half, "stem": half, "natural": half}))["says"]
    assert same == "Gates fail equally often in data, natural and stem (50 % of responses)."
    assert failures_by_domain(failing({"data": half}))["says"] == "Gates fail in data (50 % of responses)."
    gap = reliability_gap(model_scores(failing({"data": (True, True, False, False)}), seed=0))["says"]
    assert "they are most for a and b (25.0): a gets 25 % of single facts right and passes 0 % of gates; b gets" in gap


def test_arms_without_the_image_are_not_pooled_with_those_that_see_it() -> None:
    """A blind arm has its own gap and its own failures; the mean over models and the counts of all leave it out."""
    rows = rows_of({"m": 0.9, "m#blind": 0.5})
    models = model_scores(rows, seed=0)
    found = reliability_gap(models)
    assert models["m"].reliability_gap is not None
    assert found["mean"] == pytest.approx(models["m"].reliability_gap.mean, abs=1e-5)
    assert "#blind" not in found["says"]
    failures = failures_by_domain(rows)
    assert failures["all"] == failures["models"]["m"]
    assert failures["models"]["m#blind"]["natural"]["failed"] > failures["models"]["m"]["natural"]["failed"]


def test_a_gap_may_be_below_zero_and_ends_at_a_hundred_points() -> None:
    """Rubrics are pooled and gates are not: where long lists fail the gap is negative, with an interval from -100 to 100."""
    rows = [
        AuditRow(f"s{at}", f"c{at}", "data", "m", 0, (count, 1), ((count == 1,) * count, (True,)))
        for at, count in enumerate([1] * 10 + [20] * 2)
    ]
    gap = model_scores(rows, seed=0)["m"].reliability_gap
    assert gap is not None
    assert gap.mean == pytest.approx(100 * 10 / 50 - 100 * 10 / 12, abs=1e-5)
    assert gap.low is not None
    assert gap.high is not None
    assert -100 <= gap.low < gap.mean < gap.high <= 100
    assert gap.low < 0, "it is not cut at 0"


def test_models_of_equal_skill_lie_on_no_line_over_different_images() -> None:
    """Six equal models whose responses go wrong in both streams together: published R² is high, that of other images not."""
    published: list[float] = []
    apart: list[float] = []
    for seed in range(12):
        rows: list[AuditRow] = []
        for model in range(6):
            draw = random.Random(f"{seed}/{model}")
            for number in range(30):
                good = draw.random() < 0.5
                judged = ((good,) * 4, tuple(draw.random() < (0.9 if good else 0.4) for _ in range(6)))
                rows.append(AuditRow(f"s{number}", f"c{number}", "data", f"m{model}", 0, (4, 6), judged))
        found = consistency(rows, model_scores(rows, seed=seed), seed=seed)
        published.append(found["r_squared"])
        apart.append(found["disjoint"]["r_squared"])
        assert found["disjoint"]["low"] <= found["disjoint"]["r_squared"] <= found["disjoint"]["high"]
    assert sum(published) / len(published) > 0.5
    assert sum(apart) / len(apart) < 0.3, "0.2 is what six points without a line bring"


def test_open_and_proprietary_models_are_compared_on_the_same_images() -> None:
    """The best of each group and the groups' means, with a test over images; equal skills are told apart by chance alone."""

    def compared(skills: dict[str, float], weights: dict[str, str]) -> OpenAndProprietary | None:
        rows = rows_of(skills, n=80)
        models = {
            name: AuditedModel.model_construct(**dict(scores), weights=weights.get(name))
            for name, scores in model_scores(rows, seed=1).items()
        }
        return analyses.open_and_proprietary(rows, models, seed=1)

    groups = {"o1": "open", "o2": "open", "p1": "proprietary", "p2": "proprietary"}
    found = compared({"o1": 0.8, "o2": 0.6, "p1": 0.97, "p2": 0.9}, groups)
    assert found is not None
    assert found.best == ("o1", "p1")
    best, everybody = found.gaps["the best"], found.gaps["all"]
    assert best.n == everybody.n == 80
    assert best.p < 0.01
    assert best.gap.low is not None
    assert 0 < best.gap.low < best.gap.mean == pytest.approx(best.proprietary - best.open, abs=1e-5)
    assert "in favour of the proprietary one, beyond chance" in found.says
    alike = compared({"o1": 0.9, "p1": 0.9}, groups)
    assert alike is not None
    assert alike.gaps["all"].p > 0.05
    assert compared({"o1": 0.9, "other": 0.8}, groups) is None


def test_the_published_gap_is_over_all_rubrics() -> None:
    """Atomic accuracy counts both streams (the paper's Figure 6), and stands beside the gap of the gate's own rubrics."""
    rows = rows_of({"m": 0.8})
    found = reliability_gap(model_scores(rows, seed=1))["models"]["m"]
    holds = [hit for one in rows if one.judged for group in one.judged for hit in group]
    assert found["atomic"] == pytest.approx(100 * sum(holds) / len(holds), abs=1e-4)
    assert found["atomic_gap"]["mean"] == pytest.approx(found["atomic"] - found["gate"], abs=1e-4)


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
    found = consistency(rows, model_scores(rows, seed=0), seed=0)
    assert found["n"] == 4
    assert found["r_squared"] > 0.9
    assert found["low"] <= found["r_squared"] <= found["high"]
    assert f"R² of {found['r_squared']:.2f} [{found['low']:.2f}, {found['high']:.2f}] of how" in found["says"]
    two = rows_of({"a": 0.9, "b": 0.5})
    assert consistency(two, model_scores(two, seed=0), seed=0)["r_squared"] is None
    same = rows_of({"a": 1.0, "b": 1.0, "c": 1.0})
    assert "no line" in consistency(same, model_scores(same, seed=0), seed=0)["says"]


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


@pytest.mark.full
def test_length_bias_is_found_where_it_is_planted_and_nowhere_else() -> None:
    """Where long responses score, r is large and p small; where length is chance, false alarms stay at their rate."""
    biased = length_bias(rows_of({"m": 0.8}, words=lambda number, passed: 300 if passed else 100 + number % 7), seed=0)
    assert biased["models"]["m"]["r"] > 0.7
    assert biased["models"]["m"]["p_published"] < 1e-6
    assert biased["models"]["m"]["p"] < 1e-3
    points = biased["models"]["m"]["points"]
    assert len(points) == 60
    assert {words == 300 for words, score in points if score > 0} == {True}
    many = length_bias(rows_of({"m": 0.8}, n=MOST_POINTS + 50), seed=0)["models"]["m"]
    assert len(many["points"]) == MOST_POINTS
    found = [length_bias(rows_of({"m": 0.8}, seed=seed), seed=seed)["models"]["m"] for seed in range(200)]
    for name in ("p", "p_published"):
        assert sum(one[name] < 0.05 for one in found) <= 31 * 200 // 400
    flat = length_bias(rows_of({"m": 0.8}, words=lambda number, passed: 100), seed=0)
    assert flat["models"]["m"]["r"] is None


@pytest.mark.full
def test_repeats_and_many_models_bring_no_length_bias_by_chance() -> None:
    """Where an image decides length and score, repeats are not independent: p keeps its 5 %, and so does the sentence."""
    alarms = published = said = 0
    for seed in range(40):
        rows: list[AuditRow] = []
        for model in range(10):
            draw = random.Random(f"{seed}/{model}")
            for number in range(20):
                passed, length = draw.random() < 0.5, draw.randrange(60, 200)
                judged = ((passed,) * 4, (True,) * 6)
                rows += [
                    AuditRow(
                        f"s{number}", f"c{number}", "data", f"m{model}", repeat, (4, 6), judged, words=length + repeat
                    )
                    for repeat in range(3)
                ]
        found = length_bias(rows, seed=seed)
        alarms += sum(one["p"] < 0.05 for one in found["models"].values())
        published += sum(one["p_published"] < 0.05 for one in found["models"].values())
        said += found["says"].startswith("Length goes")
    assert alarms <= 31
    assert published > 60
    assert said <= 31 * 40 // 400 + 2


def test_the_gate_changes_an_agreement_only_where_a_paired_interval_says_so() -> None:
    """Ratings that follow the gate are followed better with it; ratings that have nothing to do with it are not."""
    rows = rows_of(SKILLS)
    by_gate = [Rating(row.model, 100 * all(row.judged[0]), row.sample_id) for row in rows if row.judged]
    found = agreement(rows, by_gate)
    assert found["gain"]["low"] > 0
    assert found["says"].endswith("the gate raises it beyond chance.")
    draw = random.Random(3)
    chance = agreement(rows, [Rating(row.model, draw.random(), row.sample_id) for row in rows])
    assert chance["gain"]["low"] < 0 < chance["gain"]["high"]
    assert chance["says"].endswith("the difference may be chance.")
    few = agreement(rows, [Rating(name, skill) for name, skill in SKILLS.items()])
    assert few["gain"]["low"] is None
    assert "too few" in few["says"]


def audit(means: dict[str, int]) -> list[AuditRow]:
    """Return an audit of forty images, of which the gates of so many pass."""
    return [
        AuditRow(f"s{number}", f"c{number}", "data", name, 0, (1, 1), ((number < good,), (True,)))
        for name, good in means.items()
        for number in range(40)
    ]


def test_judges_differ_in_order_only_beyond_ties_and_chance() -> None:
    """Equal means are in no order, and of pairs that are the other way round it is said whether both judges are sure."""
    tied = two_judges(audit({"a": 20, "b": 20}), audit({"a": 20, "b": 21}), names=("x", "y"), seed=0)
    assert (tied["same_order"], tied["reversed"]) == (True, [])
    near = two_judges(audit({"a": 21, "b": 20}), audit({"a": 20, "b": 21}), names=("x", "y"), seed=0)
    assert near["same_order"] is False
    assert near["reversed"][0]["adjusted"] > 0.05
    assert "order 1 pairs of models differently, 0 of them beyond chance" in near["says"]
    far = two_judges(audit({"a": 35, "b": 10}), audit({"a": 10, "b": 35}), names=("x", "y"), seed=0)
    assert far["reversed"][0]["adjusted"] < 0.05


def test_two_judges_averaged_by_weights() -> None:
    """With weights the mean of both judges stands beside each one's, and lies where the weights put it; without, none does."""
    strict, lax = audit({"a": 20, "b": 10}), audit({"a": 30, "b": 30})
    found = two_judges(strict, lax, names=("strict", "lax"), seed=0, weights=(0.75, 0.25))
    assert found["weights"] == [0.75, 0.25]
    for one in found["models"].values():
        first, second = one["means"]
        assert one["together"]["mean"] == pytest.approx(0.75 * first + 0.25 * second, abs=1e-4)
    plain = two_judges(strict, lax, names=("strict", "lax"), seed=0)
    assert "weights" not in plain
    assert all("together" not in one for one in plain["models"].values())


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


def test_other_benchmarks_are_held_against_the_same_ratings_of_the_same_models() -> None:
    """Scores that follow the ratings correlate with them, others do not; a model without a score of one is in none."""
    scores = {name: 10.0 * place for place, name in enumerate("abcde")}
    ratings = [Rating(name, float(place)) for place, name in enumerate("abcdef")]
    flat = [Rating(name, 1.0 + (name in "bd")) for name in "abcd"]
    found = other_benchmarks(scores, ratings, {"flat": flat})
    assert found["models"] == ["a", "b", "c", "d"]
    assert found["scores"]["gated score"]["pearson"]["value"] == 1
    assert found["scores"]["flat"]["pearson"]["value"] == pytest.approx(pearson([1, 2, 1, 2], [0, 1, 2, 3]), abs=1e-6)
    assert found["scores"]["flat"]["points"]["b"] == [2.0, 1.0]
    assert "over the same 4 models: gated score 1.00 and 1.00; flat 0.45" in found["says"]
    with pytest.raises(DataError, match="needs 3 or more"):
        other_benchmarks(scores, ratings, {"flat": flat[:2]})
    with pytest.raises(DataError, match="no id"):
        other_benchmarks(scores, [Rating("a", 1.0, "s1")], {"flat": flat})
