"""Conclusions where several models or methods have the same highest figure: all of them are named, and none alone."""

from typing import Any, cast

import pytest
from pydantic import BaseModel

from dokimasia.methods.arena.figures import ArenaFigures, ArenaGroup, ArenaModel, ArenaPair
from dokimasia.methods.arena.report import conclusion as arena_conclusion
from dokimasia.methods.audit.figures import AuditedModel, AuditFigures
from dokimasia.methods.audit.report import conclusion as audit_conclusion
from dokimasia.methods.duel.figures import Cases, DuelFigures, DuelledModel, Verdicts
from dokimasia.methods.duel.report import conclusion as duel_conclusion
from dokimasia.methods.judging.figures import Gap, JudgedMethod, JudgingFigures
from dokimasia.methods.judging.report import conclusion as judging_conclusion
from dokimasia.report.blocks import plain
from dokimasia.report.conclusions import highest, joined, of_each
from dokimasia.report.data import ReportData
from dokimasia.report.fields import Interval, Share

USED: dict[str, Any] = {"calls": 3, "cost": 0.0, "cost_known": None}


def data_of(figures: BaseModel) -> ReportData:
    return ReportData(cast("Any", None), cast("Any", None), {}, figures=figures)


def text_of(sentences: Any) -> str:
    return " ".join(plain(sentence) for sentence in sentences).replace("\xa0", " ")


def interval(mean: float, low: float, high: float) -> Interval:
    return Interval(mean=mean, low=low, high=high)


def test_lists_in_words() -> None:
    assert [plain(joined(names)) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert plain(of_each(["40 %", "40 %"])) == "each 40 %"
    assert plain(of_each(["40 %", "41 %"])) == "40 % and 41 %"
    assert plain(of_each(["40 %"])) == "40 %"
    assert highest({"b": interval(2, 1, 3), "c": interval(1, 0, 2), "a": interval(2, 0, 4)}) == ["a", "b"]


def test_an_audit_names_all_models_with_the_highest_score() -> None:
    def audited(score: Interval) -> AuditedModel:
        return AuditedModel.model_construct(overall=score, n_scored=12, failed_answers={})

    models = {"b": audited(interval(80, 70, 90)), "a": audited(interval(80, 70, 90)), "c": audited(interval(10, 0, 20))}
    figures = AuditFigures.model_construct(models=models, lead=None, **USED)
    said = text_of(audit_conclusion(data_of(figures)))
    assert said.startswith("a and b have the highest gated score: each 80.0 [70, 90] of 100 on 12 samples.")
    del models["b"]
    said = text_of(audit_conclusion(data_of(figures.model_copy(update={"models": models}))))
    assert said.startswith("a has the highest gated score: 80.0 [70, 90] of 100 on 12 samples.")


def test_duels_name_all_models_with_the_highest_reward() -> None:
    """Each of them is compared with the baseline by its own interval."""
    verdicts = Verdicts.model_construct(failed=0)

    def duelled(reward: Interval) -> DuelledModel:
        return DuelledModel.model_construct(reward=reward, n=20, verdicts=verdicts)

    models = {"b": duelled(interval(30, 10, 50)), "a": duelled(interval(30, -5, 65)), "c": duelled(interval(0, -9, 9))}
    cases = Cases.model_construct(general_criteria=0)
    figures = DuelFigures.model_construct(models=models, lead=None, baseline="base", samples=20, cases=cases, **USED)
    said = text_of(duel_conclusion(data_of(figures)))
    assert said.startswith(
        "a and b have the highest reward. a is not significantly better than base: +30.00 [−5.0, +65.0] on 20 cases and "
        "b is better than base: +30.00 [+10.0, +50.0] on 20 cases."
    )
    general = "had no criteria of their own and were judged by this program's general ones"
    assert general not in said
    figures = figures.model_copy(update={"cases": Cases.model_construct(general_criteria=5)})
    assert f"5 of 20 cases {general}" in text_of(duel_conclusion(data_of(figures)))


def pair(first: str, second: str, difference: float) -> ArenaPair:
    gap = interval(difference, difference - 9, difference + 9)
    return ArenaPair.model_construct(first=first, second=second, difference=gap, p=0.01, adjusted=0.02)


def arena(ratings: dict[str, float]) -> ArenaFigures:
    models = {
        name: ArenaModel.model_construct(rating=interval(mean, mean - 50, mean + 50)) for name, mean in ratings.items()
    }
    names = list(models)
    pairs = [
        pair(first, second, ratings[second] - ratings[first])
        for number, second in enumerate(names)
        for first in names[number + 1 :]
    ]
    group = ArenaGroup(models=tuple(names), reason="", tie_rate=None)
    return ArenaFigures.model_construct(models=models, groups=(group,), pairs=tuple(pairs), **USED)


def test_an_arena_names_all_models_that_are_rated_highest() -> None:
    said = text_of(arena_conclusion(data_of(arena({"a": 1100, "b": 1100, "c": 900}))))
    assert said.startswith("a and b are rated highest: each 1100 [1050, 1150].")
    assert "lead" not in said


def test_an_arena_with_one_best_model_says_by_how_much_it_leads() -> None:
    said = text_of(arena_conclusion(data_of(arena({"a": 1100, "b": 950, "c": 950}))))
    assert said.startswith("a is rated highest: 1100 [1050, 1150]. Its lead over b is +150")


def judged(share: float) -> JudgedMethod:
    accuracy = Share(share=share, low=0.5, high=1.0, k=round(100 * share), n=100, bounds=None)
    return JudgedMethod.model_construct(accuracy=accuracy, ceiling=None, replacement=None)


def judging(shares: dict[str, float], gaps: tuple[Gap, ...]) -> JudgingFigures:
    results = {"j": {method: judged(share) for method, share in shares.items()}}
    return JudgingFigures.model_construct(
        judges=("j",), methods=tuple(shares), results=results, gaps=gaps, people=None, **USED
    )


def test_all_judging_methods_that_agree_best_are_named() -> None:
    said = text_of(judging_conclusion(data_of(judging({"atom": 0.8, "batch": 0.8, "pointwise": 0.6}, ()))))
    assert said.startswith("atom of j and batch of j agree best with people: each 80.0 [50, 100] % of 100 comparisons.")


@pytest.mark.parametrize(("difference", "relation"), [(20.0, "better than"), (-20.0, "not better beyond chance than")])
def test_a_method_is_better_only_where_the_paired_difference_says_so(difference: float, relation: str) -> None:
    """Where two methods judged different comparisons, the higher share may be the worse one on those that both judged."""
    gap = Gap(
        judge="j",
        category=None,
        first="batch",
        second="atom",
        n=50,
        difference=interval(difference, difference - 5, difference + 5),
        p_value=0.001,
        adjusted=0.002,
    )
    said = text_of(judging_conclusion(data_of(judging({"atom": 0.8, "batch": 0.7}, (gap,)))))
    assert f"It is {relation} batch" in said
