"""What a probe found in a sentence: who misses fewest and most errors, ties named, beside harmless changes judged equal."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.methods.probe.tables import dimension, short
from dokimasia.report.blocks import Bullets, Section
from dokimasia.report.data import ReportData
from dokimasia.report.figures import in_words

TOLD = 3
"""How many of those with the same share are named."""

FEW = 30
"""With fewer errors of a kind than this a blind spot is easily overlooked, which is said."""


class _Way(NamedTuple):
    judge: str
    evaluator: str
    undetected: float
    equal: float | None


def headline(task: str, found: Mapping[str, Any]) -> str:
    """Return which judges and evaluators miss fewest and most errors, of every effort and with tools as well."""
    known = [
        _Way(judge, short(evaluator), one["undetected"]["share"], one["equal"]["share"])
        for judge, own in found["judges"].items()
        for evaluator, one in own["evaluators"].items()
        if one["undetected"]["share"] is not None
    ]
    if not known:
        return f"Nothing of {task} was judged."
    least, most = (end(one.undetected for one in known) for end in (min, max))
    fewest = [one for one in known if one.undetected == least]
    if len(known) == 1:
        return f"{task}: errors missed by {_named(known)}."
    if least == most:
        return f"{task}: errors missed by all alike: {_named(known)}."
    worst = [one for one in known if one.undetected == most]
    if len({one.judge for one in known}) == 1:
        text = f"{task}: {known[0].judge} misses fewest errors under {_named(fewest, alone=True)}; "
        text += f"most under {_named(worst, alone=True)}."
    else:
        text = f"{task}: fewest errors are missed by {_named(fewest)}; most by {_named(worst)}."
    if any(one.equal is not None and one.equal < 0.5 for one in fewest):
        text += " Who marks harmless changes down as well finds errors by that alone."
    return text


def apart(found: Mapping[str, Any]) -> str:
    """Return where the judges stand that the main table has not; empty where it has all."""
    others = [name for name in found["judges"] if name not in found["shown"]]
    if not others:
        return ""
    return (
        f"Of each judge the table has one way of asking: without tools, at the last effort named. {', '.join(others)} "
        "stand under efforts and tools."
    )


def without_neutral(found: Mapping[str, Any]) -> str:
    """Return why nothing stands under score-invariant; empty where harmless changes were put to the judges."""
    known = (one["equal"]["n"] for judge in found["judges"].values() for one in judge["evaluators"].values())
    if any(known):
        return ""
    return (
        "No harmless changes are among the perturbations, so score-invariant is not measured: `perturb` makes them with "
        "score_neutral among its --dimensions."
    )


def none_told(found: Mapping[str, Any]) -> str:
    """Return that no blind spot was told, from how many errors a dimension, and that this does not clear the judges."""
    judged = [
        own["undetected"]["n_scored"]
        for judge in found["judges"].values()
        for one in judge["evaluators"].values()
        for own in one["dimensions"].values()
    ]
    least, most = min(judged, default=0), max(judged, default=0)
    count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    text = f"No dimension is told to be a blind spot of any judge by the rule below, from {count} judged errors a dimension"
    if most < FEW:
        text += ", too few to tell more than kinds that are missed nearly always: judges are not cleared by it"
    return text


def tested_on(task: str, found: Mapping[str, Any]) -> str:
    """Return on how many images the test for blind spots rests, how many it leaves out, and what it could not test."""
    judged = [
        (name, own["spot"])
        for judge in found["judges"].values()
        for one in judge["evaluators"].values()
        for name, own in one["dimensions"].items()
        if own["undetected"]["n_scored"]
    ]
    images = [spot["images"] for _, spot in judged if spot is not None]
    alone = max((spot["alone"] for _, spot in judged if spot is not None), default=0)
    text = ""
    if images:
        least, most = min(images), max(images)
        text = (
            f"A dimension is tested on the images that hold errors of other dimensions, too: {least:,}"
            f"{f' to {most:,}' if most > least else ''} of them a dimension. "
            + (
                f"Up to {alone:,} more hold errors of it alone and say nothing of it."
                if alone
                else "None holds errors of it alone."
            )
        )
    untested = list(dict.fromkeys(dimension(task, name) for name, spot in judged if spot is None))
    if untested:
        text += (
            f" Not tested under some evaluator, since no image holds errors of it and of another dimension: "
            f"{in_words(untested)}; `perturb` makes errors of several --dimensions from the same samples."
        )
    return text.strip()


def not_entered(data: ReportData) -> Section | None:
    """Return which perturbations were not put to the judges and why; None where all were."""
    told: list[str] = data.summary.get("skipped", [])
    return Section("skipped", "Perturbations that do not enter", (Bullets(told),), menu="Not entered") if told else None


def _named(ways: Sequence[_Way], *, alone: bool = False) -> str:
    """Return ways with the same share, that share, and of each the harmless changes judged equal; `alone`: of one judge."""
    names = [one.evaluator if alone else f"{one.judge} under {one.evaluator}" for one in ways]
    told = ", ".join(
        f"{name} (score-invariant {_percent(one.equal)})" for name, one in list(zip(names, ways, strict=True))[:TOLD]
    )
    more = f" and {len(ways) - TOLD} more" if len(ways) > TOLD else ""
    return f"{told}{more}, {_percent(ways[0].undetected)}{' each' if len(ways) > 1 else ''}"


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{100 * share:.1f} %"
