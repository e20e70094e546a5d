"""What a comparison consists of: each judgement, and each thing that judgements rest on, by the name of its item."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from dokimasia.domain.judging.judgements import HumanRanking
from dokimasia.methods.judging.request import JudgingPlan

Basis = Literal["chain", "criteria", "chainless", "compared"]
"""A sample's chain; the criteria drawn from it; criteria drawn without one; criteria drawn from auxiliary responses."""

RESTS_ON: dict[str, tuple[Basis, ...]] = {
    "pointwise": (),
    "batch": (),
    "scan": ("compared",),
    "atom": ("chain", "criteria"),
    "atom-no-chain": ("chainless",),
    "atom-no-decomposition": ("chain",),
    "atom-no-weights": ("chain", "criteria"),
}
"""By method, what has to be there before a response is judged, in order."""


class JudgingUnit(NamedTuple):
    """One judgement: of a response of `model`, drawn for the nth time, or, without a model, of all in the nth order."""

    name: str
    method: str
    judge: str
    sample: str
    model: str
    draw: int


def basis_item(basis: Basis, judge: str, sample: str) -> str:
    """Return the name of the item that makes what judgements of a sample rest on."""
    return f"{basis}/{judge}/{sample}"


def source_of(method: str) -> str:
    """Return the method whose judgements a method goes by: its own, or those to which it gives other weights."""
    return "atom" if method == "atom-no-weights" else method


def asked_methods(plan: JudgingPlan) -> list[str]:
    """Return the methods that ask a judge, each once and in order."""
    return list(dict.fromkeys(map(source_of, plan.methods)))


def bases_of(plan: JudgingPlan) -> list[Basis]:
    """Return all that the plan's judgements rest on, in the order in which it is made."""
    return list(dict.fromkeys(basis for method in plan.methods for basis in RESTS_ON[method]))


def units_of(plan: JudgingPlan, method: str, judge: str, sample: str, models: Iterable[str]) -> Iterator[JudgingUnit]:
    """Yield the judgements of the responses to one sample by one judge and method."""
    if method == "batch":
        for order in range(plan.orders):
            yield JudgingUnit(f"batch/{judge}/{sample}/{order}", method, judge, sample, "", order)
        return
    for model in models:
        for repeat in range(plan.repeats):
            yield JudgingUnit(f"{method}/{judge}/{sample}/{model}/{repeat}", method, judge, sample, model, repeat)


def count_items(plan: JudgingPlan, ranked: Mapping[str, Sequence[str]]) -> int:
    """Return of how many items a comparison consists: what judgements rest on, and the judgements, none of which is made."""
    single = sum(map(len, ranked.values())) * plan.repeats
    judged = sum(len(ranked) * plan.orders if method == "batch" else single for method in asked_methods(plan))
    return len(plan.judges) * (len(bases_of(plan)) * len(ranked) + judged)


def all_units(plan: JudgingPlan, ranked: Mapping[str, Iterable[str]]) -> dict[str, JudgingUnit]:
    """Return every judgement of a run by its item's name."""
    return {
        unit.name: unit
        for sample, models in ranked.items()
        for spec in plan.judges
        for method in asked_methods(plan)
        for unit in units_of(plan, method, spec.ref.name, sample, models)
    }


def ranked_models(rankings: Iterable[HumanRanking]) -> dict[str, tuple[str, ...]]:
    """Return by sample the models that somebody ranked beside another one, in alphabetical order."""
    found: dict[str, set[str]] = {}
    for one in rankings:
        if len(one.scores) > 1:
            found.setdefault(one.sample, set()).update(one.scores)
    return {sample: tuple(sorted(models)) for sample, models in found.items()}
