"""Gates: whether a run is worse than its baseline by more than is allowed, for continuous integration."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import ceil, isnan, log

import numpy as np

from dokimasia.algorithms.statistics import ConfidenceInterval, bootstrap_interval
from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.power import pilot_design, samples_needed
from dokimasia.errors import InputError
from dokimasia.report.board import Measure
from dokimasia.report.fields import Bounds
from dokimasia.report.gate import GRAVEST_FIRST, Gate, GateDecision, GatedModel, GateVerdict
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.measures import interval_of, mean, mean_bounds, rounded
from dokimasia.runs.reading.board import ACCURACY_SCALE, has_board, scale_of
from dokimasia.runs.reading.comparison import (
    AnswerMeasure,
    ComparisonSide,
    Models,
    Scale,
    compare_runs,
    loss_reason,
    match_places,
    sides_of,
)
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

ERROR = 0.05
"""The probability, for all models of a gate together, that an interval misses the true value."""


def gate_of(
    home: Home,
    run: Run,
    baseline: Run,
    *,
    max_drop: float,
    measure: Measure | None = None,
    models: Models | None = None,
    seed: int | None = None,
) -> Gate:
    """Return whether the models of a run are worse than those of its baseline by more than is allowed.

    A model has a drop if the interval of its paired difference lies wholly below the allowed drop, whatever undecided answers
    are, and none if it lies wholly above and missing values could not hide one: the difference stays above it if all samples of
    the baseline without a value in both runs counted against the run. The intervals hold for all models at once (Bonferroni).
    A run has no drop against itself.

    Args:
        home: the home of both runs.
        run: the run to be gated.
        baseline: the run that it is compared with, over samples in common.
        max_drop: the largest allowed drop, in percent of the length of the scale (for accuracy, percentage points).
        measure: `accuracy` is strict accuracy, `score` the score; by default accuracy if both runs have it.
        models: a model of the baseline and the model of the run that it is compared with; by default every model of both.
        seed: the seed of intervals; by default that of the baseline.

    Raises:
        InputError: `max_drop` is out of range, or the runs have no sample or model in common, are of different methods, or
            have no such measure.
    """
    if not 0 <= max_drop <= 100:
        raise InputError(f"max_drop: {max_drop} is no percentage from 0 to 100, such as 2")
    for each in (baseline, run):
        if not has_board(each):
            raise InputError(f"run {each.id} is {method_of(each).title}: it has no score by sample to gate")
    sides: dict[str, Mapping[str, ComparisonSide]] = {}

    def read(home: Home, run: Run) -> Mapping[str, ComparisonSide]:
        if run.id not in sides:
            sides[run.id] = sides_of(home, run)
        return sides[run.id]

    unchanged = run.id == baseline.id and models is None
    ungated: tuple[str, ...] = ()
    if unchanged:
        names = [(name, name) for name in read(home, run)]
    else:
        comparison = compare_runs(home, baseline, run, models=models, top=0, seed=seed, read=read)
        names = [(pair.first_model, pair.second_model) for pair in comparison.scores]
        ungated = comparison.unpaired.first if models is None else ()
    if not names:
        raise InputError(f"run {run.id} has no result to gate yet; it is {run.status}")
    pairs = [(pair, (sides[baseline.id][pair[0]], sides[run.id][pair[1]])) for pair in names]
    seed = baseline.seed if seed is None else seed
    decided = all(_decided(side) for _, both in pairs for side in both)
    measure = measure or ("accuracy" if decided else "score")
    if measure == "accuracy" and not decided:
        raise InputError("a run has no decisions of right or wrong: gate its scores with --measure score")
    if measure == "score" and not all(side.scored for _, both in pairs for side in both):
        raise InputError("a run has no scores: gate its accuracy with --measure accuracy")
    scale = scale_of(method_of(run), measure)
    margin, level = max_drop / 100 * (scale[1] - scale[0]), 1 - ERROR / len(pairs)
    gated = tuple(
        _gated(pair, both, measure=measure, margin=margin, level=level, scale=scale, seed=seed) for pair, both in pairs
    )
    if unchanged:
        gated = tuple(model.model_copy(update={"verdict": "no drop", "samples_needed": None}) for model in gated)
    gravest = min(gated, key=lambda model: GRAVEST_FIRST.index(model.verdict))
    return Gate(
        run=run.id,
        baseline=baseline.id,
        measure=measure,
        scale=scale,
        max_drop=max_drop,
        direction="run minus baseline",
        level=level,
        verdict=gravest.verdict,
        models=gated,
        ungated=ungated,
        simulated=_simulated(baseline, run),
        seed=seed,
    )


def _simulated(*runs: Run) -> tuple[str, ...]:
    return tuple(simulated_names(spec for run in runs for spec in method_of(run).read(run)[0].models.values()))


def _decided(side: ComparisonSide) -> bool:
    return any(answer.right is not None for answers in side.answers.values() for answer in answers)


def _gated(
    names: Models,
    sides: tuple[ComparisonSide, ComparisonSide],
    *,
    measure: Measure,
    margin: float,
    level: float,
    scale: Scale,
    seed: int,
) -> GatedModel:
    """Return the comparison of a model with its baseline (`names` and `sides` have the baseline first)."""
    shared, _ = match_places(sides[0].places, sides[1].places)
    paired = {place.sample_id for place, _ in shared}
    rest = [place for place in sides[0].places if place.sample_id not in paired]

    def values(measure: AnswerMeasure) -> tuple[Floats, Floats]:
        """Return a measure of the baseline's samples, shared ones first, on both sides."""
        before, after = (side.values(measure, (pair[number] for pair in shared)) for number, side in enumerate(sides))
        return np.concatenate([before, sides[0].values(measure, rest)]), np.r_[after, np.full(len(rest), np.nan)]

    before, after = values("strict" if measure == "accuracy" else "score")
    lost: Counter[str] = Counter({"not in the run": len(rest)} if rest else {})
    for pair, *both in zip(shared, before.tolist(), after.tolist(), strict=False):
        if any(map(isnan, both)):
            known = [None if isnan(value) else value for value in both]
            lost[loss_reason(*sides, pair, (known[0], known[1]))] += 1
    clusters = [place.cluster for place in (*(place for place, _ in shared), *rest)]
    most = values("upper") if measure == "accuracy" else None
    decision = decide(before, after, clusters, most=most, margin=margin, level=level, scale=scale, seed=seed)
    return GatedModel(
        baseline_model=names[0],
        model=names[1],
        n_baseline=len(clusters),
        lost=dict(sorted(lost.items())),
        **dict(decision),
    )


def decide(
    before: Floats,
    after: Floats,
    clusters: Sequence[Hashable],
    *,
    most: tuple[Floats, Floats] | None = None,
    margin: float,
    level: float,
    scale: Scale = ACCURACY_SCALE,
    seed: int,
) -> GateDecision:
    """Return whether the mean fell by more than a margin.

    Args:
        before: values of the baseline by sample, NaN without one.
        after: values of the same samples now.
        clusters: the cluster of each sample.
        most: `before` and `after` if all undecided answers were right; None if none can be undecided.
        margin: the largest allowed drop, in the unit of the values.
        level: of the interval of the difference.
        scale: the lowest and the highest value.
        seed: the seed of the interval.
    """
    lowest, highest = scale
    widest = highest - lowest
    low = np.nan_to_num(after, nan=lowest) - np.nan_to_num(before, nan=highest)
    high = np.nan_to_num(after, nan=highest) - np.nan_to_num(before, nan=lowest)
    bounds = mean_bounds(float(low.sum()), float(high.sum()), len(low))
    both = np.isfinite(before) & np.isfinite(after)
    steps: list[float] = (after - before)[both].tolist()
    names = [cluster for cluster, usable in zip(clusters, both.tolist(), strict=True) if usable]
    verdict: GateVerdict = "cannot tell"
    difference = outer = needed = None
    n_undecided = 0
    if steps:

        def interval(differences: Floats) -> ConfidenceInterval:
            values: list[float] = differences[both].tolist()
            return bootstrap_interval(values, clusters=names, level=level, seed=seed, bounds=(-widest, widest))

        ends = interval(after - before)
        difference = interval_of(sum(steps) / len(steps), ends)
        least, largest = ends.low, ends.high
        if most is not None and (
            n_undecided := int(np.count_nonzero(((most[0] != before) | (most[1] != after)) & both))
        ):
            least, largest = interval(after - most[0]).low, interval(most[1] - before).high
            outer = Bounds(low=rounded(least), high=rounded(largest))
        if ends.low <= -margin <= ends.high:
            needed = _needed(steps, names, margin=margin, level=level, widest=widest)
        elif largest < -margin:
            verdict = "drop"
        elif least > -margin and bounds is not None and bounds.low > -margin:
            verdict = "no drop"
    return GateDecision(
        n=len(steps),
        n_changed=sum(step != 0 for step in steps),
        n_undecided=n_undecided,
        baseline=mean(before[both].tolist()),
        mean=mean(after[both].tolist()),
        difference=difference,
        outer=outer,
        bounds=bounds,
        verdict=verdict,
        samples_needed=needed,
    )


def _needed(
    steps: Sequence[float], clusters: Sequence[Hashable], *, margin: float, level: float, widest: float
) -> int | None:
    """Return the number of samples needed to decide a difference of this size; None if the pilot is uninformative."""
    difference = sum(steps) / len(steps) + margin
    if max(steps) == min(steps):
        share = difference / (widest + steps[0])
        if not 0 < share < 1:
            return None
        images = ceil(log((1 - level) / 2) / log(1 - share)) + 1
        return ceil(images * len(steps) / len(set(clusters)))
    try:
        return samples_needed(difference, pilot_design(steps, clusters=clusters), level=level)
    except ValueError:
        return None
