"""Why people changed captions: how many captions were edited or rejected for each reason."""

from collections.abc import Sequence

from dokimasia.domain.decision import CHANGE_REASONS, REASON_ACTIONS, Standing
from dokimasia.people.checks.shape import ReasonFigures, ReasonShare
from dokimasia.runs.measures import share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.runs import run_samples


def reason_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> ReasonFigures | None:
    """Return the figures of the reasons for which captions were changed; None if no caption was edited or rejected.

    The decision in effect on a caption counts, second opinions do not. Shares are of the changed captions with a reason, with
    95 % intervals clustered by image; `bounds` are those that changed captions without a reason leave possible. A caption may
    have several reasons, so that shares add up to more than 1.
    """
    clusters = {sample.sample_id: sample.cluster for sample in run_samples(home, run_id)}
    decisions = [(one.item.sample_id, one.settled_by) for one in standings if one.item.kind == "caption"]
    changed = [(sample, made) for sample, made in decisions if made is not None and made.action in REASON_ACTIONS]
    if not changed:
        return None
    known = [(clusters.get(sample, sample), made) for sample, made in changed if made.reasons]
    units = [cluster for cluster, _ in known]
    unknown = len(changed) - len(known)
    shares = [
        ReasonShare(
            reason=reason,
            meaning=meaning,
            edited=sum(made.action == "edit" and reason in made.reasons for _, made in known),
            rejected=sum(made.action == "reject" and reason in made.reasons for _, made in known),
            share=share_of_hits([reason in made.reasons for _, made in known], units, unknown=unknown),
        )
        for reason, meaning in CHANGE_REASONS.items()
    ]
    return ReasonFigures(
        checked=sum(made is not None for _, made in decisions),
        changed=len(changed),
        with_reason=len(known),
        reasons=tuple(shares),
    )
