"""What a collection of rubric sets is made of: how many, of which kinds, resting on what (PerceptionRubrics, table 1, A.2)."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from dokimasia.domain.rubric import WEAK_POOL, Rubric, RubricSet
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.rates import mean

STEP = 100
"""Words from one step of the captions' histogram to the next."""


def set_figures(sets: Sequence[RubricSet]) -> dict[str, Any]:
    """Return the figures of rubric sets, ready for JSON.

    Returns:
        What `shape.RubricsFigures` describes, from `sets` on.
    """
    rubrics = [rubric for one in sets for rubric in one.rubrics]
    streams = {
        "rubrics": [len(one.rubrics) for one in sets],
        "must_right": [len(one.must_right) for one in sets],
        "easy_wrong": [len(one.easy_wrong) for one in sets],
    }
    lengths = [len(one.caption.split()) for one in sets if one.caption]
    quoted = [(rubric, one) for one in sets for rubric in one.rubrics if rubric.evidence and one.caption]
    supported = [len(rubric.support) for rubric in rubrics if rubric.support]
    return {
        "sets": len(sets),
        "images": len({image for one in sets for image in one.images}),
        **{name: sum(counts) for name, counts in streams.items()},
        "per_sample": {name: mean(counts) for name, counts in streams.items()},
        "distribution": {name: counted(counts) for name, counts in streams.items()},
        "caption_words": {
            "mean": mean(lengths),
            "median": median(lengths) if lengths else None,
            "longest": max(lengths, default=None),
            "by_length": {str(at): sum(at <= one < at + STEP for one in lengths) for at in _steps(lengths)},
        },
        "domains": counted(one.domain or "unknown" for one in sets),
        "kinds": counted(rubric.kind or "unknown" for rubric in rubrics),
        "negative": sum(rubric.polarity == "negative" for rubric in rubrics),
        "repaired": sum(rubric.repaired for rubric in rubrics),
        "evidence": mean([float(stands_in(rubric, one.caption)) for rubric, one in quoted]),
        "support": mean(supported),
        "dropped": {
            by: sum(gone.by == by for one in sets for gone in one.dropped) for by in ("rules", "trial", "panel")
        },
        "replaced": sum(rubric.replaced for rubric in rubrics),
        "weak": sum(len(one.pool) < WEAK_POOL for one in sets),
        "unheard": sum(len(one.unheard) for one in sets),
        "verified": sum(one.verified for one in sets),
        "checked": sum(one.checked for one in sets),
    }


def _steps(lengths: Sequence[int]) -> range:
    """Return where the steps of a histogram begin, from the shortest length's to the longest one's."""
    return range(min(lengths) // STEP * STEP, max(lengths) + 1, STEP) if lengths else range(0)


def stands_in(rubric: Rubric, caption: str) -> bool:
    """Return whether a rubric's evidence stands in the caption word for word, but for spaces and case."""
    return " ".join(rubric.evidence.split()).casefold() in " ".join(caption.split()).casefold()
