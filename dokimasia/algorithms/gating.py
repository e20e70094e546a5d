"""Gated scores: easy-wrong rubrics count only if every must-right rubric holds."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Assessment = tuple[Sequence[bool], Sequence[bool]]
"""A judge's verdicts on the must-right and the easy-wrong rubrics of a response; true is good."""


class GatedSummary(NamedTuple):
    """A model's gated figures over samples, in percent except for the counts; higher is better except for the gap.

    `n` samples, of which `n_scored` have a judgement; `coverage` is their share. `overall` is the mean gated score,
    `gate_pass` the share of open gates and `easy_wrong_mean` the mean over samples of the share of easy-wrong rubrics
    that hold; `must_right_item` and `easy_wrong_item` are shares of all rubrics of their stream, samples pooled;
    `atomic_accuracy` is that of both streams together. `reliability_gap` is must_right_item minus gate_pass, `atomic_gap`
    atomic_accuracy minus gate_pass. A figure without data is None.
    """

    n: int
    n_scored: int
    coverage: float | None
    overall: float | None
    must_right_item: float | None
    easy_wrong_item: float | None
    gate_pass: float | None
    easy_wrong_mean: float | None
    reliability_gap: float | None
    atomic_accuracy: float | None
    atomic_gap: float | None


def gate(must_right: Sequence[bool]) -> int:
    """Return 1 if every must-right rubric holds, else 0; without must-right rubrics the gate is open.

    Examples
    --------
    >>> gate([True, True]), gate([True, False]), gate([])
    (1, 0, 1)
    """
    return int(all(must_right))


def gated_score(must_right: Sequence[bool], easy_wrong: Sequence[bool]) -> float:
    """Return the gated score of a response, 0 to 1, higher is better: the gate times the share of easy-wrong rubrics that hold.

    Parameters
    ----------
    must_right, easy_wrong : sequence of bool
        Whether each rubric holds. A rubric without the judge's answer makes the whole judgement a failure, which must
        be left out. Without easy-wrong rubrics, an open gate scores 1.

    References
    ----------
    PerceptionRubrics, section 3.4.

    Examples
    --------
    >>> gated_score([True, True], [True, False, True, True]), gated_score([True, False], [True]), gated_score([], [])
    (0.75, 0.0, 1.0)
    """
    return gate(must_right) * _share(easy_wrong)


def summarise(samples: Iterable[Assessment | None]) -> GatedSummary:
    """Return a model's gated figures.

    Parameters
    ----------
    samples : iterable of (must_right, easy_wrong) or None
        Each sample's judged rubrics; None for a failed judgement, which counts only in `n`.

    Returns
    -------
    GatedSummary
        In percent. A sample without rubrics of a stream is left out of that stream's item accuracy, and one without
        easy-wrong rubrics also out of `easy_wrong_mean`; its gate and gated score count all the same.

    References
    ----------
    PerceptionRubrics, section 4.3 and table 4. The paper's atomic accuracy, and so its gap, is over all rubrics; the gap over
    must-right rubrics alone is this project's.

    Examples
    --------
    >>> summary = summarise([([True, True], [True, False]), ([True, False], [True, True]), None])
    >>> summary.n_scored, summary.overall, summary.must_right_item, summary.gate_pass, summary.reliability_gap
    (2, 25.0, 75.0, 50.0, 25.0)
    >>> summary.atomic_accuracy, summary.atomic_gap
    (75.0, 25.0)
    """
    everything = list(samples)
    scored = [sample for sample in everything if sample is not None]
    must_right = [hit for sample in scored for hit in sample[0]]
    easy_wrong = [hit for sample in scored for hit in sample[1]]
    item, passed = _percent(must_right), _percent([gate(sample[0]) for sample in scored])
    atomic = _percent([*must_right, *easy_wrong])
    return GatedSummary(
        n=len(everything),
        n_scored=len(scored),
        coverage=_percent([sample is not None for sample in everything]),
        overall=_percent([gated_score(*sample) for sample in scored]),
        must_right_item=item,
        easy_wrong_item=_percent(easy_wrong),
        gate_pass=passed,
        easy_wrong_mean=_percent([_share(sample[1]) for sample in scored if sample[1]]),
        reliability_gap=_gap(item, passed),
        atomic_accuracy=atomic,
        atomic_gap=_gap(atomic, passed),
    )


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 1.0


def _gap(item: float | None, passed: float | None) -> float | None:
    if item is None or passed is None:
        return None
    return item - passed


def _percent(values: Sequence[float]) -> float | None:
    if values:
        return 100 * sum(values) / len(values)
    return None
