"""Why people changed captions: how many captions were edited or rejected for each reason."""

from collections.abc import Sequence

from dokimasia.domain.decision import CHANGE_REASONS, REASON_ACTIONS, Standing
from dokimasia.people.checks.shape import ReasonFigures, ReasonShare
from dokimasia.runs.measures import share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.runs import clusters_by_sample


def reason_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> ReasonFigures | None:
    """Return the figures of the reasons for which captions were changed; None if no caption was edited or rejected.

    The decision in effect on a caption counts, second opinions do not. Shares are of the changed captions with a reason, with
    95 % intervals clustered by image; `bounds` are those that changed captions without a reason leave possible. A caption may
    have several reasons, so that shares add up to more than 1.
    """
    clusters = clusters_by_sample(home, run_id)
    decisions = [
        (standing.item.sample_id, standing.settled_by) for standing in standings if standing.item.kind == "caption"
    ]
    changed = [
        (sample, decision)
        for sample, decision in decisions
        if decision is not None and decision.action in REASON_ACTIONS
    ]
    if not changed:
        return None
    known = [(clusters.get(sample, sample), decision) for sample, decision in changed if decision.reasons]
    units = [cluster for cluster, _ in known]
    unknown = len(changed) - len(known)
    shares = [
        ReasonShare(
            reason=reason,
            meaning=meaning,
            edited=sum(decision.action == "edit" and reason in decision.reasons for _, decision in known),
            rejected=sum(decision.action == "reject" and reason in decision.reasons for _, decision in known),
            share=share_of_hits([reason in decision.reasons for _, decision in known], units, unknown=unknown),
        )
        for reason, meaning in CHANGE_REASONS.items()
    ]
    return ReasonFigures(
        checked=sum(decision is not None for _, decision in decisions),
        changed=len(changed),
        with_reason=len(known),
        reasons=tuple(shares),
    )
