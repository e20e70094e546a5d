"""Figures of checks: items by state, decisions by person, and pairwise agreement."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.shares import rate_interval
from dokimasia.domain.decision import ACTIONS, STATES, Action, Kind, Standing
from dokimasia.people.checks.shape import CheckFigures, DecidedAlike, ReasonFigures


def check_figures(standings: Sequence[Standing], reasons: ReasonFigures | None = None) -> CheckFigures:
    """Return the figures of a run's items.

    `agreement` has an entry for each two people who decided on the same items: their number `n`, the share with the same
    decision (accept, edit or reject), its 95 % interval with samples as clusters, Cohen's kappa (None if both made one and
    the same decision on all), and the number of items with the same resulting text. `asked` counts open questions by
    person. `reasons` are the figures from `reason_figures`.
    """
    states = Counter(one.state for one in standings)
    kinds: list[Kind] = list(dict.fromkeys(one.item.kind for one in standings)) or ["caption"]
    actions: tuple[Action, ...] = tuple(dict.fromkeys(action for kind in kinds for action in ACTIONS[kind]))
    people = sorted({decision.who for one in standings for decision in one.decisions})
    asked = Counter(one.item.person for one in standings if one.item.person and one.state == "waiting")
    pairs = [_pair(standings, first, second, actions) for first, second in combinations(people, 2)]
    return CheckFigures(
        items=len(standings),
        kinds=dict(sorted(Counter(one.item.kind for one in standings).items())),
        states={state: states[state] for state in ("waiting", *(STATES[action] for action in actions))},
        asked=dict(sorted(asked.items())),
        people={who: sum(one.last_of(who) is not None for one in standings) for who in people},
        agreement=tuple(pair for pair in pairs if pair is not None),
        reasons=reasons,
    )


def _pair(standings: Sequence[Standing], first: str, second: str, actions: Sequence[Action]) -> DecidedAlike | None:
    both = [
        (one, mine, yours)
        for one in standings
        if (mine := one.last_of(first)) is not None and (yours := one.last_of(second)) is not None
    ]
    if not both:
        return None
    alike = [mine.action == yours.action for _, mine, yours in both]
    interval = rate_interval(alike, clusters=[one.item.sample_id for one, _, _ in both])
    try:
        kappa: float | None = cohen_kappa(
            [mine.action for _, mine, _ in both], [yours.action for _, _, yours in both], categories=actions
        )
    except ValueError:  # both gave one and the same answer to everything
        kappa = None
    return DecidedAlike(
        people=(first, second),
        n=len(both),
        share=sum(alike) / len(both),
        low=interval.low,
        high=interval.high,
        kappa=kappa,
        same_text=sum(mine.text == yours.text for _, mine, yours in both),
    )
