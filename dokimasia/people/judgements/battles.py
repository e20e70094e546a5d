"""Ratings of models from battles that exist, sparse or not, adjusted for place and length."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.algorithms.pairwise import PairOutcome, rate_models
from dokimasia.algorithms.pairwise.adjusting import AdjustedRatings, AdjustedValue, rate_adjusted
from dokimasia.people.judgements.reading import JudgedItem, JudgementFile
from dokimasia.people.judgements.shape import BattleModel, BattleRatings
from dokimasia.people.judgements.values import Reading
from dokimasia.report.fields import Interval
from dokimasia.runs.measures import interval_of

PEOPLE = "people"

TWICE_AS_LONG = 1 / 3
"""The length of a response twice as long as the other, as difference over sum."""

_ONE_ORDER = "no two models were shown in both orders"
_RANKED = "a ranking shows no response first"
_NO_LENGTHS = "not every battle has the lengths of both responses"


class _Battle(NamedTuple):
    """A readable verdict on two models: the outcome for the first by name, and whether it was shown first."""

    item: str
    outcome: PairOutcome
    place: float


def battle_ratings(read: JudgementFile) -> dict[str, BattleRatings]:
    """Return the ratings of models by each judge that decided battles, and by all people together."""
    if not read.battles:
        return {}
    sides: dict[str, list[Mapping[str, JudgedItem]]] = {name: [said] for name, said in read.judges.items()}
    if read.people:
        sides[PEOPLE if PEOPLE not in sides else f"all {PEOPLE}"] = [*read.people.values()]
    return {name: _ratings(read, said) for name, said in sides.items()}


def _ratings(read: JudgementFile, said: Iterable[Mapping[str, JudgedItem]]) -> BattleRatings:
    battles: list[_Battle] = []
    failed = 0
    for by_item in said:
        for item, judged in by_item.items():
            for reading, place in ((judged.straight, 1.0), (judged.swapped, -1.0)):
                if reading is not None and (reading.value is None or item not in read.battles):
                    failed += 1
                elif reading is not None:
                    battles.append(_Battle(item, _outcome(read.battles[item], reading), place))
    outcomes = [battle.outcome for battle in battles]
    clusters = [read.clusters[battle.item] for battle in battles]
    covariates, not_adjusted = _covariates(read, battles)
    adjusted: dict[str, AdjustedValue] = {}
    effects: dict[str, Interval] = {}
    if covariates:
        groups = rate_adjusted(outcomes, covariates, clusters=clusters)
        adjusted = {name: value for group in groups for name, value in group.ratings.items()}
        effects = _effects(max(groups, key=lambda group: len(group.models), default=None))
    met = Counter(name for outcome in outcomes for name in (outcome.first, outcome.second))
    models: dict[str, BattleModel] = {}
    reasons: list[str] = []
    for number, group in enumerate(rate_models(outcomes, clusters=clusters, seed=0)):
        for name in sorted(group.models, key=lambda name: (-group.ratings.get(name, 0.0), name)):
            rating = interval_of(group.ratings[name], group.intervals[name]) if name in group.ratings else None
            other = interval_of(*adjusted[name]) if name in adjusted else None
            models[name] = BattleModel(battles=met[name], group=number, rating=rating, adjusted=other)
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


def _outcome(names: tuple[str, str], reading: Reading) -> PairOutcome:
    value = reading.value or 0.0
    return PairOutcome(*names, int(value > 0) - int(value < 0))


def _covariates(read: JudgementFile, battles: list[_Battle]) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return what ratings are adjusted for, one value for each battle, and why they are not adjusted for the rest."""
    covariates: dict[str, list[float]] = {}
    not_adjusted: dict[str, str] = {}
    shown = {(battle.outcome.first, battle.outcome.second, battle.place) for battle in battles}
    if read.kind == "rankings":
        not_adjusted["place"] = _RANKED
    elif any((first, second, -place) in shown for first, second, place in shown):
        covariates["place"] = [battle.place for battle in battles]
    else:
        not_adjusted["place"] = _ONE_ORDER
    lengths = [read.lengths.get(battle.item) for battle in battles]
    known = [pair for pair in lengths if pair is not None]
    if known and len(known) == len(battles):
        covariates["length"] = [(first - second) / (first + second) for first, second in known]
    else:
        not_adjusted["length"] = _NO_LENGTHS
    return covariates, not_adjusted


def _effects(group: AdjustedRatings | None) -> dict[str, Interval]:
    """Return the effects in the largest group of models."""
    if group is None:
        return {}
    units = {"length": TWICE_AS_LONG}
    return {
        name: interval_of(units.get(name, 1.0) * effect.value, effect.interval, unit=units.get(name, 1.0))
        for name, effect in group.effects.items()
    }
