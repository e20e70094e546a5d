"""How often judges miss errors, and how often harmless changes sway them, by judge, task, evaluator and kind of error."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.blindspots.shares import ItemShare, item_share
from dokimasia.algorithms.blindspots.spots import SpotTest, blind_spots, images_of
from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.domain.blindspots import Detection, Evaluator, Task, by_axes, paradigm_of

Scope = Literal["all", "group", "dimension"]


class ControlRates(NamedTuple):
    """How a judge treated harmless changes of an answer, and the unchanged answer; each a share, 0 to 1.

    Attributes
    ----------
    equal : ItemShare
        Harmless changes judged equal (*score-invariant*): higher is better.
    preferred : ItemShare
        Harmless changes judged better than the gold answer overall.
    flickers : ItemShare
        Gold answers judged a second time and not judged equal (of pairs: the same answer shown twice, one of them
        preferred): the noise floor. A judge that flickers seems to detect, and to penalise, by chance. Lower is better.
    false_alarms : ItemShare
        Justifications of gold answers and harmless changes that name an error, according to a reader, as a share of those
        that were read: lower is better. Compare `FailureRate.named` with it.
    """

    equal: ItemShare
    preferred: ItemShare
    flickers: ItemShare
    false_alarms: ItemShare


class FailureRate(NamedTuple):
    """One row of the table: shares of the errors of one kind, 0 to 1, lower is better except for `named`.

    Attributes
    ----------
    judge, task, evaluator
        The judge, its task, and the evaluator.
    scope, name
        All errors, or those of the group or dimension of this name.
    undetected : ItemShare
        Errors that no relevant axis detects; for pairs the mean over both orders.
    strict : ItemShare
        The strict form: no relevant axis is lower. For pairs: not detected in both orders.
    either, both : ItemShare or None
        For pairs: undetected in at least one order, and in both; None for other evaluators.
    majority, overall : ItemShare or None
        Errors that no majority of the relevant axes detects, and those that the axis `overall` alone does not; None for
        evaluators without other axes.
    worse : ItemShare
        Errors whose answer was judged better than the gold answer.
    named : ItemShare
        Errors named in the justification although they went undetected, as a share of the undetected ones whose
        justification was read. Higher is better; for pairs an error counts as undetected if it was so in any order.
    unnoticed : ItemShare
        Errors that neither the scores nor the justification show, of those whose justification was read.
    spot : SpotTest or None
        For a dimension: whether it is missed more often than the judge's other errors on the same images, which makes
        it a blind spot. The p-values of a judge are adjusted over all its tasks, evaluators and dimensions together
        (Benjamini and Hochberg): a judge that misses all kinds of error equally often is said to have a blind spot in
        at most 5 % of cases, and at most 5 % of the blind spots reported are expected to be false. None if no image
        holds errors of this dimension and of another one.
    controls : ControlRates or None
        Only in the row of all errors: how harmless changes and unchanged answers were judged.
    """

    judge: str
    task: Task
    evaluator: Evaluator
    scope: Scope
    name: str
    undetected: ItemShare
    strict: ItemShare
    either: ItemShare | None
    both: ItemShare | None
    majority: ItemShare | None
    overall: ItemShare | None
    worse: ItemShare
    named: ItemShare
    unnoticed: ItemShare
    spot: SpotTest | None = None
    controls: ControlRates | None = None


def failure_rates(items: Iterable[Detection], *, seed: int = 0) -> tuple[FailureRate, ...]:
    """Return how often judges miss errors, with intervals, and with bounds for failed judgements.

    Parameters
    ----------
    items : iterable of Detection
        The result of each item under each evaluator of each judge: errors, harmless changes, and retests. A failed
        judgement has `undetected` (or `equal`) None: it counts in n, not in the share, and widens the bounds.
    seed : int
        Seed of the permutations behind the test for blind spots.

    Returns
    -------
    tuple of FailureRate
        By judge, task and evaluator in order of appearance: a row for all errors, with the controls, then one row per
        group, then one per dimension. Shares are clustered by image.

    Raises
    ------
    ValueError
        If a value is not 0, 1/2 or 1.

    References
    ----------
    FOCUS, sections 3.1 and 4, table 3; Benjamini and Hochberg, Controlling the false discovery rate, 1995.

    Examples
    --------
    >>> setting = {"judge": "j", "task": "image-to-text", "evaluator": "single-vanilla"}
    >>> errors = [
    ...     Detection(**setting, case="error", dimension="numerical_errors", group="VR", cluster=str(number), item=str(number),
    ...               undetected=float(number < 2), strict=1.0)
    ...     for number in range(4)
    ... ]
    >>> [(row.scope, row.name, row.undetected.share, row.strict.share) for row in failure_rates(errors)]
    [('all', '', 0.5, 1.0), ('group', 'VR', 0.5, 1.0), ('dimension', 'numerical_errors', 0.5, 1.0)]
    """
    groups: dict[tuple[str, Task, Evaluator], list[Detection]] = {}
    for item in items:
        groups.setdefault((item.judge, item.task, item.evaluator), []).append(item)
    return tuple(_adjust([row for key, detections in groups.items() for row in _rows(*key, detections, seed=seed)]))


def _place(detection: Detection) -> tuple[str, ...]:
    """Return the sort key of an item, since a test's draws depend on the order, which passports and probes share."""
    return detection.case, detection.group, detection.dimension, detection.cluster, detection.item


def _adjust(rows: Sequence[FailureRate]) -> list[FailureRate]:
    """Return the rows with the p-values of each judge adjusted over all its evaluators and dimensions."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.spot is not None:
            values.setdefault(row.judge, []).append(row.spot.p_value)
    adjusted = {judge: iter(false_discovery_rate(p_values)) for judge, p_values in values.items()}
    return [
        row if row.spot is None else row._replace(spot=row.spot._replace(adjusted=next(adjusted[row.judge])))
        for row in rows
    ]


def _rows(
    judge: str, task: Task, evaluator: Evaluator, detections: Sequence[Detection], *, seed: int
) -> list[FailureRate]:
    errors = [detection for detection in detections if detection.case == "error"]
    scored = [
        (error.undetected, error.dimension, error.cluster)
        for error in sorted(errors, key=_place)
        if error.undetected is not None
    ]
    dimensions_of, clusters = [dimension for _, dimension, _ in scored], [cluster for _, _, cluster in scored]
    images = images_of(dimensions_of, clusters)
    p_values = blind_spots([value for value, _, _ in scored], dimensions_of, clusters, seed=seed)
    spots = {name: SpotTest(p_value, p_value, *images[name]) for name, p_value in p_values.items()}

    def row(scope: Scope, name: str, subset: Sequence[Detection]) -> FailureRate:
        pair = paradigm_of(evaluator) == "pairwise"
        justified = [
            detection for detection in subset if detection.named is not None and detection.undetected is not None
        ]
        return FailureRate(
            judge=judge,
            task=task,
            evaluator=evaluator,
            scope=scope,
            name=name,
            undetected=_share(subset, lambda detection: detection.undetected),
            strict=_share(subset, lambda detection: detection.strict),
            either=_share(subset, _missed_in_any_order) if pair else None,
            both=_share(subset, _missed_in_both_orders) if pair else None,
            majority=_share(subset, lambda detection: detection.majority) if by_axes(evaluator) else None,
            overall=_share(subset, lambda detection: detection.overall) if by_axes(evaluator) else None,
            worse=_share(subset, lambda detection: detection.worse),
            named=_share(
                [detection for detection in justified if detection.undetected], lambda detection: detection.named
            ),
            unnoticed=_share(justified, lambda detection: float(bool(detection.undetected) and not detection.named)),
            spot=spots.get(name) if scope == "dimension" else None,
            controls=_control_rates(detections) if scope == "all" else None,
        )

    groups = list(dict.fromkeys(error.group for error in errors))
    dimensions = list(dict.fromkeys(error.dimension for error in errors))
    return [
        row("all", "", errors),
        *(row("group", name, [error for error in errors if error.group == name]) for name in groups),
        *(row("dimension", name, [error for error in errors if error.dimension == name]) for name in dimensions),
    ]


def _control_rates(detections: Sequence[Detection]) -> ControlRates:
    neutral = [detection for detection in detections if detection.case == "neutral"]
    retests = [detection for detection in detections if detection.case == "retest"]
    harmless = [detection for detection in (*neutral, *retests) if detection.named is not None]
    return ControlRates(
        equal=_share(neutral, lambda detection: detection.equal),
        preferred=_share(neutral, lambda detection: detection.worse),
        flickers=_share(retests, lambda detection: None if detection.equal is None else 1 - detection.equal),
        false_alarms=_share(harmless, lambda detection: detection.named),
    )


def _missed_in_any_order(detection: Detection) -> float | None:
    if detection.undetected is None:
        return None
    return float(detection.undetected > 0)


def _missed_in_both_orders(detection: Detection) -> float | None:
    if detection.undetected is None:
        return None
    return float(detection.undetected == 1)


def _share(items: Sequence[Detection], value: Callable[[Detection], float | None]) -> ItemShare:
    return item_share([(value(item), item.cluster) for item in items])
