"""Figures of checks: items by state, decisions by person, pairwise agreement, and reasons of changes."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from pydantic import Field

from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.intervals import rate_interval
from dokimasia.domain.decision import (
    ACTIONS,
    CHANGE_REASONS,
    REASON_ACTIONS,
    STATES,
    Action,
    Decision,
    Kind,
    Standing,
)
from dokimasia.domain.identity import Value
from dokimasia.people.checks.labels import label_figures, labelled
from dokimasia.people.checks.questions import answered_since
from dokimasia.people.checks.shape import CheckFigures, DecidedAlike, LabelFigures, ReasonFigures, ReasonShare
from dokimasia.runs.measures import share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.runs import RunStatus, clusters_by_sample, get_run


def check_figures(standings: Sequence[Standing], reasons: ReasonFigures | None = None) -> CheckFigures:
    """Return the figures of a run's items.

    `agreement` has an entry for each two people who decided on the same items: their number `n`, the share with the
    same decision (accept, edit or reject), its 95 % interval with samples as clusters, Cohen's kappa (None if both made
    the same decision on every item), and the number of items with the same resulting text. `asked` counts open
    questions by person. `reasons` are the figures from `reason_figures`.
    """
    states = Counter(standing.state for standing in standings)
    kinds: Counter[Kind] = Counter(standing.item.kind for standing in standings)
    actions: dict[Action, None] = dict.fromkeys(() if kinds else ACTIONS["caption"])
    for kind in kinds:
        actions |= dict.fromkeys(ACTIONS[kind])
    people: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    for standing in standings:
        people.update({decision.who: 0 for decision in standing.decisions})
        people.update(standing.opinions.keys())
        if standing.item.person and standing.state == "waiting":
            questions[standing.item.person] += 1
    pairs = [_pair(standings, *two, tuple(actions)) for two in combinations(sorted(people), 2)]
    return CheckFigures(
        items=len(standings),
        kinds=dict(sorted(kinds.items())),
        states={state: states[state] for state in ("waiting", *(STATES[action] for action in actions))},
        asked=dict(sorted(questions.items())),
        people=dict(sorted(people.items())),
        agreement=tuple(pair for pair in pairs if pair is not None),
        reasons=reasons,
    )


def _pair(standings: Sequence[Standing], first: str, second: str, actions: Sequence[Action]) -> DecidedAlike | None:
    mine: list[Decision] = []
    yours: list[Decision] = []
    clusters: list[str] = []
    for standing in standings:
        decisions = standing.last_of(first), standing.last_of(second)
        if decisions[0] is not None and decisions[1] is not None:
            mine.append(decisions[0])
            yours.append(decisions[1])
            clusters.append(standing.item.sample_id)
    if not mine:
        return None
    both = list(zip(mine, yours, strict=True))
    alike = [decision.action == other.action for decision, other in both]
    interval = rate_interval(alike, clusters=clusters)
    try:
        kappa: float | None = cohen_kappa(
            [decision.action for decision in mine], [decision.action for decision in yours], categories=actions
        )
    except ValueError:  # both gave the same answer to everything
        kappa = None
    return DecidedAlike(
        people=(first, second),
        n=len(both),
        share=sum(alike) / len(both),
        low=interval.low,
        high=interval.high,
        kappa=kappa,
        same_text=sum(decision.text == other.text for decision, other in both),
    )


def reason_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> ReasonFigures | None:
    """Return the figures of the reasons for which captions were changed; None if no caption was edited or rejected.

    Only the effective decision on a caption counts, not second opinions. Shares are of the changed captions with a
    reason, with 95 % intervals clustered by image; `bounds` allow for changed captions without a reason. A caption may
    have several reasons, so that shares may add up to more than 1.
    """
    clusters = clusters_by_sample(home, run_id)
    checked = changed = 0
    known: list[Decision] = []
    units: list[str] = []
    for standing in standings:
        decision = standing.settled_by
        if decision is None or standing.item.kind != "caption":
            continue
        checked += 1
        if decision.action in REASON_ACTIONS:
            changed += 1
            if decision.reasons:
                known.append(decision)
                units.append(clusters.get(standing.item.sample_id, standing.item.sample_id))
    if not changed:
        return None
    shares: list[ReasonShare] = []
    for reason, meaning in CHANGE_REASONS.items():
        hits = [reason in decision.reasons for decision in known]
        actions = Counter(decision.action for decision in known if reason in decision.reasons)
        share = share_of_hits(hits, units, unknown=changed - len(known))
        shares.append(
            ReasonShare(reason=reason, meaning=meaning, edited=actions["edit"], rejected=actions["reject"], share=share)
        )
    return ReasonFigures(checked=checked, changed=changed, with_reason=len(known), reasons=tuple(shares))


class CheckedRun(Value):
    """A run that people decide on."""

    run: str


class StandingFigures(CheckFigures, CheckedRun):
    """Figures of a run's items, with its status."""

    status: RunStatus
    answered: bool = Field(description="whether the run goes on with answers that it has not taken up")
    labels: LabelFigures | None = Field(default=None, description="left out where no item is a perturbation")


def standing_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> StandingFigures:
    """Return the figures of a run's items with its status, and with label figures if there are perturbations."""
    figures = check_figures(standings, reason_figures(home, run_id, standings))
    labels = None
    if "perturbation" in figures.kinds:
        labels = label_figures(labelled(home, run_id, standings))
    return StandingFigures(
        **dict(figures),
        run=run_id,
        status=get_run(home, run_id).status,
        answered=answered_since(home, run_id),
        labels=labels,
    )
