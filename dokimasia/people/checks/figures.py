"""Figures of verification by people: how many items stand how, who decided how often, and how far two people agree."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from pydantic import Field

from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.shares import rate_interval
from dokimasia.domain.decision import ACTIONS, STATES, Action, Decision, Kind, Standing
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Counts, Fraction


class DecisionAgreement(Value):
    """How far two people decided alike on the items on which both did."""

    people: tuple[str, str]
    n: Count = Field(description="items on which both decided")
    share: Fraction = Field(description="of them, those on which they decided alike: accept, edit or reject")
    low: float | None = Field(description="lower end of the 95 % interval, clustered by sample")
    high: float | None = Field(description="upper end of the 95 % interval, clustered by sample")
    kappa: float | None = Field(description="Cohen's kappa; null where both always decided the same")
    same_text: Count = Field(description="items on which both left the same text")


class CheckFigures(Value):
    """Figures of items that people decide on."""

    items: Count
    kinds: dict[Kind, Count]
    states: Counts
    asked: Counts = Field(description="questions that wait, by person")
    people: Counts = Field(description="items on which each person decided")
    agreement: tuple[DecisionAgreement, ...] = Field(description="of each two people who decided on the same item")


def check_figures(standings: Sequence[Standing]) -> CheckFigures:
    """Return the figures of a run's items."""
    states = Counter(standing.state for standing in standings)
    kinds: Counter[Kind] = Counter(standing.item.kind for standing in standings)
    actions: dict[Action, None] = {}
    for kind in kinds or ("caption",):
        actions |= dict.fromkeys(ACTIONS[kind])
    people = sorted({decision.who for standing in standings for decision in standing.decisions})
    waiting = Counter(
        standing.item.person for standing in standings if standing.item.person and standing.state == "waiting"
    )
    agreement: list[DecisionAgreement] = []
    for first, second in combinations(people, 2):
        pair = _agreement(standings, first, second, tuple(actions))
        if pair is not None:
            agreement.append(pair)
    return CheckFigures(
        items=len(standings),
        kinds=dict(sorted(kinds.items())),
        states={state: states[state] for state in ("waiting", *(STATES[action] for action in actions))},
        asked=dict(sorted(waiting.items())),
        people={who: sum(standing.last_of(who) is not None for standing in standings) for who in people},
        agreement=tuple(agreement),
    )


def _agreement(
    standings: Sequence[Standing], first: str, second: str, actions: Sequence[Action]
) -> DecisionAgreement | None:
    """Return how far two people agree; None where they decided on no common item."""
    pairs: list[tuple[Decision, Decision]] = []
    samples: list[str] = []
    for standing in standings:
        first_decision, second_decision = standing.last_of(first), standing.last_of(second)
        if first_decision is not None and second_decision is not None:
            pairs.append((first_decision, second_decision))
            samples.append(standing.item.sample_id)
    if not pairs:
        return None
    alike = [first_decision.action == second_decision.action for first_decision, second_decision in pairs]
    interval = rate_interval(alike, clusters=samples)
    try:
        kappa: float | None = cohen_kappa(
            [decision.action for decision, _ in pairs], [decision.action for _, decision in pairs], categories=actions
        )
    except ValueError:  # both gave one and the same answer to everything
        kappa = None
    return DecisionAgreement(
        people=(first, second),
        n=len(pairs),
        share=sum(alike) / len(pairs),
        low=interval.low,
        high=interval.high,
        kappa=kappa,
        same_text=sum(first_decision.text == second_decision.text for first_decision, second_decision in pairs),
    )
