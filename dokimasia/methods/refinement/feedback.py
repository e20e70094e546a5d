"""What a refinement said and what it let out: hints, leaks found, fallbacks, and how steady the judge was meanwhile."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.algorithms.statistics.shares import clopper_pearson
from dokimasia.domain.refinement import SOLVED, FeedbackPoint, HintWording, RefinementRow
from dokimasia.runs.reading.rates import DIGITS, share

FEEDBACK = ("self", "peer")
BEYOND_RULES = (
    "paraphrases",
    "descriptions and comparisons",
    "riddles and words spelled out",
    "sums",
    "what is left over once all else is ruled out",
)
"""Forms of leaks that the certain rules do not look for; the judge does."""


def hint_figures(rows: Sequence[RefinementRow]) -> dict[str, Any]:
    """Return what became of the points that the arms `self` and `peer` had to make, over all rounds.

    Returns:
        What `shape.HintFigures` describes, by arm.
    """
    counted: dict[str, Any] = {}
    for arm in FEEDBACK:
        points = [point for row in rows if row.arm == arm for point in row.points]
        if not points:
            continue
        counted[arm] = {
            "points": len(points),
            "hinted": sum(bool(point.hint) for point in points),
            "leaking": sum(bool(point.leaks) for point in points),
            "rewritten": sum(point.rewritten for point in points),
            "asked": sum(point.asked for point in points),
            "fallbacks": dict(sorted(Counter(point.fallback for point in points if point.fallback).items())),
            "peers": {
                name: {
                    "points": sum(point.peer == name for point in points),
                    "hinted": sum(point.peer == name and bool(point.hint) for point in points),
                }
                for name in sorted({point.peer for point in points if point.peer})
            },
        }
    return counted


def leak_figures(rows: Sequence[RefinementRow], *, judged: bool) -> dict[str, Any]:
    """Return how much of what was to be said was found to leak, every text counted once; `judged`: a judge looked, too.

    Returns:
        What `shape.LeakFigures` describes.
    """
    questions: dict[tuple[str, int], bool] = {}
    hints: dict[tuple[HintWording, ...], FeedbackPoint] = {}
    unjudged: dict[tuple[object, ...], int] = {}
    for row in rows:
        if row.arm == "original":
            why = {one.atom: one.why for one in row.unused}
            looked = [atom for atom in row.failed_atoms if row.failed and why.get(atom, "leak") == "leak"]
            questions |= {(row.criteria_id, atom): atom in why for atom in looked}
        for point in row.points:
            unjudged[row.criteria_id, point.atom, point.wordings] = point.unjudged
            if point.wordings:
                hints[point.wordings] = point
    leaking = [point for point in hints.values() if point.leaks]
    second = [point for point in hints.values() if point.rewritten]
    found = [leak for point in hints.values() for leak in point.leaks]
    return {
        "questions": _exact(sum(questions.values()), len(questions)),
        "hints": _exact(len(leaking), len(hints)),
        "rewritings": _exact(sum(point.fallback == "leak" for point in second), len(second)),
        "dropped": sum(point.fallback == "leak" for point in leaking),
        "passed_on": sum(bool(point.hint) for point in hints.values()),
        "forms": dict(sorted(Counter(leak.form for leak in found).items())),
        "found_by": dict(sorted(Counter(leak.found_by for leak in found).items())),
        "judge": judged,
        "not_looked_for": [] if judged else list(BEYOND_RULES),
        "unjudged": sum(unjudged.values()),
    }


def unlooked(leaks: Mapping[str, Any]) -> list[str]:
    """Return sentences on what no judge looked at, of the figures of `leak_figures`; none where it read everything."""
    lines: list[str] = []
    if leaks["not_looked_for"]:
        *most, last = leaks["not_looked_for"]
        lines.append(f"No judge looked for leaks (--no-leak-judge): {', '.join(most)} and {last} were not looked for.")
    if leaks["unjudged"]:
        lines.append(
            f"On {leaks['unjudged']} texts the judge gave no verdict that could be read; they passed on the word of the "
            "certain rules alone."
        )
    return lines


def steadiness(rows: Sequence[RefinementRow]) -> dict[str, Any]:
    """Return how often the judge, asked again about one and the same answer, solves an atom that it failed, or the reverse.

    Returns:
        What `shape.Steadiness` describes.
    """
    turned: list[bool] = []
    spreads: list[int] = []
    clusters: list[str] = []
    answers = 0
    for row in rows:
        if len(row.draws) < 2:
            continue
        answers += 1
        for column in zip(*row.draws, strict=True):
            turned.append(len({score >= SOLVED for score in column}) > 1)
            spreads.append(max(column) - min(column))
            clusters.append(row.cluster)
    if not turned:
        return {"n": 0, "turned": 0, "share": None, "answers": 0, "spread": None}
    found = share(turned, clusters)
    return {
        "n": len(turned),
        "turned": sum(turned),
        "share": {name: found[name] for name in ("share", "low", "high")},
        "answers": answers,
        "spread": round(sum(spreads) / len(spreads), DIGITS),
    }


def _exact(k: int, n: int) -> dict[str, Any]:
    if not n:
        return {"k": 0, "n": 0, "share": None, "low": None, "high": None}
    interval = clopper_pearson(k, n)
    rounded = (round(value, DIGITS) for value in (k / n, *interval))
    return {"k": k, "n": n, **dict(zip(("share", "low", "high"), rounded, strict=True))}
