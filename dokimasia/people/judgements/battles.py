"""Rate models from recorded battles, with and without an adjustment for position and length."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.algorithms.pairwise import PairOutcome, rate_models
from dokimasia.algorithms.pairwise.adjusting import AdjustedRatings, AdjustedValue, rate_adjusted
from dokimasia.people.judgements.reading import JudgedItem, JudgementFile
from dokimasia.people.judgements.shape import BattleModel, BattleRatings
from dokimasia.report.fields import Interval
from dokimasia.runs.measures import interval_of

PEOPLE = "people"

TWICE_AS_LONG = 1 / 3
"""The length covariate of a response that is twice as long as the other: the difference of lengths over their sum."""

_ONE_ORDER = "no two models were shown in both orders"
_RANKED = "a ranking shows no response first"
_NO_LENGTHS = "not every battle has the lengths of both responses"


class _Battle(NamedTuple):
    """A readable verdict on two models: the outcome for the first by name, and whether it was shown first."""

    item: str
    outcome: PairOutcome
    place: float


def battle_ratings(judgements: JudgementFile) -> dict[str, BattleRatings]:
    """Return the ratings of models by each judge and by all people together; empty without battles."""
    if not judgements.battles:
        return {}
    sides: dict[str, list[Mapping[str, JudgedItem]]] = {name: [by_item] for name, by_item in judgements.judges.items()}
    if judgements.people:
        sides[PEOPLE if PEOPLE not in sides else f"all {PEOPLE}"] = [*judgements.people.values()]
    return {name: _ratings(judgements, verdicts) for name, verdicts in sides.items()}


def _ratings(judgements: JudgementFile, verdicts: Iterable[Mapping[str, JudgedItem]]) -> BattleRatings:
    battles: list[_Battle] = []
    failed = 0
    for by_item in verdicts:
        for item, judged in by_item.items():
            names = judgements.battles.get(item)
            for reading, place in ((judged.straight, 1.0), (judged.swapped, -1.0)):
                if reading is None:
                    continue
                if reading.value is None or names is None:
                    failed += 1
                else:
                    outcome = PairOutcome(*names, int(reading.value > 0) - int(reading.value < 0))
                    battles.append(_Battle(item, outcome, place))
    outcomes = [battle.outcome for battle in battles]
    clusters = [judgements.clusters[battle.item] for battle in battles]
    covariates, not_adjusted = _covariates(judgements, battles)
    adjusted: dict[str, AdjustedValue] = {}
    effects: dict[str, Interval] = {}
    if covariates:
        groups = rate_adjusted(outcomes, covariates, clusters=clusters)
        for adjusted_group in groups:
            adjusted |= adjusted_group.ratings
        effects = _effects(max(groups, key=lambda group: len(group.models), default=None))
    met = Counter(name for outcome in outcomes for name in (outcome.first, outcome.second))
    models: dict[str, BattleModel] = {}
    reasons: list[str] = []
    for number, group in enumerate(rate_models(outcomes, clusters=clusters, seed=0)):
        for name in sorted(group.models, key=lambda name: (-group.ratings.get(name, 0.0), name)):
            rating = interval_of(group.ratings[name], group.intervals[name]) if name in group.ratings else None
            other = interval_of(*adjusted[name]) if name in adjusted else None
            models[name] = BattleModel(
                battles=met[name],
                group=number,
                rating=rating,
                rank_interval=group.rank_intervals.get(name),
                adjusted=other,
            )
        if group.reason:
            reasons.append(f"{', '.join(group.models)}: {group.reason}")
    return BattleRatings(
        n=len(battles),
        failed=failed,
        models=models,
        reason="; ".join(reasons),
        effects=effects,
        not_adjusted=not_adjusted,
    )


def _covariates(judgements: JudgementFile, battles: list[_Battle]) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the covariates, with a value for each battle, and the reason for each missing covariate."""
    covariates: dict[str, list[float]] = {}
    not_adjusted: dict[str, str] = {}
    orders = {(battle.outcome.first, battle.outcome.second, battle.place) for battle in battles}
    if judgements.kind == "rankings":
        not_adjusted["place"] = _RANKED
    elif any((first, second, -place) in orders for first, second, place in orders):
        covariates["place"] = [battle.place for battle in battles]
    else:
        not_adjusted["place"] = _ONE_ORDER
    lengths = [judgements.lengths.get(battle.item) for battle in battles]
    known = [pair for pair in lengths if pair is not None]
    if known and len(known) == len(battles):
        covariates["length"] = [(first - second) / (first + second) for first, second in known]
    else:
        not_adjusted["length"] = _NO_LENGTHS
    return covariates, not_adjusted


def _effects(group: AdjustedRatings | None) -> dict[str, Interval]:
    """Return the effects of the covariates in a group of models."""
    if group is None:
        return {}
    effects: dict[str, Interval] = {}
    for name, effect in group.effects.items():
        unit = TWICE_AS_LONG if name == "length" else 1.0
        effects[name] = interval_of(unit * effect.value, effect.interval, unit=unit)
    return effects
