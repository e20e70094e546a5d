"""Duels beside people: the pairs that are handed out to them, and the judge's verdicts as people give theirs."""

from collections.abc import Iterator

from dokimasia.domain.annotation import VERDICT, AnnotationUnit, ResponsePair
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.methods.duel.results import duel_items, judgements
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run

ONE_ORDER = "one order"


def judged(home: Home, run: Run) -> dict[str, dict[AnnotationUnit, float]]:
    """Return the judge's verdicts on each model's first answer, +2 to -2: the mean of all orders, and of the first alone.

    An answer of which an order failed has no mean.
    """
    plan = DuelPlan.model_validate(run.options["plan"])
    rows = [row for row in results(home, run.id) if not row.arm and not row.repeat]
    both: dict[AnnotationUnit, float] = {}
    one: dict[AnnotationUnit, float] = {}
    for row, said in ((row, judgements(home, [row])[row.item]) for row in rows):
        verdicts = {each.place: each.verdict for each in said if each.verdict is not None}
        unit = AnnotationUnit(row.sample_id, VERDICT, row.model, plan.baseline_name)
        if set(plan.places) <= verdicts.keys():
            both[unit] = sum(verdicts[place] for place in plan.places) / len(plan.places)
        if plan.places[0] in verdicts:
            one[unit] = float(verdicts[plan.places[0]])
    return {"": both} if plan.single else {"": both, ONE_ORDER: one}


def pairs(home: Home, run: Run) -> Iterator[ResponsePair]:
    """Yield the pairs of a run's first answers with the baseline's, each with the criteria that the judge went by."""
    for item in duel_items(home, run):
        texts = item["response"], item["baseline_response"]
        if None not in texts and not item["repeat"] and "#" not in item["model"]:
            unit = AnnotationUnit(item["sample"], "", item["model"], item["baseline"])
            yield ResponsePair(unit, *texts, item["criteria"])
