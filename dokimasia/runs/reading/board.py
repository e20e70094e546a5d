"""Boards: models compared over the data sets of several runs, with simultaneous ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.ranks import simultaneous_ranks
from dokimasia.errors import InputError
from dokimasia.report.board import Board, BoardData, BoardEntry, BoardModel, BoardRun, Measure, OtherEntry
from dokimasia.report.fields import Interval, IntervalMethod
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.measures import mean_with_interval, rounded, strict_accuracy
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, sides_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

ACCURACY_SCALE = (0.0, 1.0)

Key = tuple[str, int]
"""A sample's digest, and the number of earlier samples of the data set with the same digest."""


@dataclass(frozen=True, slots=True)
class _DataSet:
    """Runs with shared samples, newest first, and each model's sides with their runs, the one that counts first."""

    title: str
    runs: Sequence[Run]
    sides: Mapping[str, Sequence[tuple[Run, ComparisonSide]]]


def scale_of(method: AnyMethod, measure: Measure) -> tuple[float, float]:
    """Return the lowest and the highest value of a measure in the figures of a method."""
    if measure == "accuracy":
        return ACCURACY_SCALE
    return method.scores.shown_scale or ACCURACY_SCALE


def has_board(run: Run) -> bool:
    """Return whether a run's rows have scores by sample, so that it can be on a board."""
    scores = method_of(run).scores
    return scores.scale is not None and scores.no_diff is None


def board_of(home: Home, runs: Sequence[Run], *, measure: Measure | None = None, seed: int = 0) -> Board:
    """Return the board of the models of several runs.

    Runs that share samples belong to one data set. If several runs contain a model, the run with the most samples
    counts, and the newest among equals. A model is ranked by its mean over the data sets, equally weighted, if it has
    results on all of them.

    Args:
        home: the home of the runs.
        runs: runs of one method whose rows are scored.
        measure: `accuracy` is strict accuracy, `score` the score; by default accuracy if all runs have it.
        seed: seed of intervals and tests.

    Raises:
        InputError: the runs are of different methods or scales, or have no such measure.
    """
    runs = sorted({run.id: run for run in runs}.values(), key=lambda run: (run.created_at, run.id), reverse=True)
    method = method_of(runs[0])
    for run in runs:
        if run.method != method.name:
            raise InputError(
                f"run {runs[0].id} is {method.title} and run {run.id} is {method_of(run).title}: a board has runs of one method"
            )
        if not has_board(run):
            raise InputError(f"runs of {method.title} have no score by sample, so that there is no board of them")
    sides = {run.id: sides_of(home, run) for run in runs}
    for run in runs:
        if not sides[run.id]:
            raise InputError(f"run {run.id} has no result yet; it is {run.status}")
    decided = all(any(answer.right is not None for answer in _answers(run_sides)) for run_sides in sides.values())
    measure = measure or ("accuracy" if decided else "score")
    scale = scale_of(method, measure)
    data_sets = _data_sets(runs, sides)
    entries: dict[str, dict[str, BoardEntry]] = {}
    others: list[OtherEntry] = []
    for data in data_sets:
        for name, listed in data.sides.items():
            for place, (run, side) in enumerate(listed):
                entry = _entry(run, side, measure, scale, seed)
                if entry is None:
                    continue
                if place == 0:
                    entries.setdefault(name, {})[data.title] = entry
                else:
                    others.append(OtherEntry(model=name, data=data.title, created_at=run.created_at, entry=entry))
    if not entries:
        raise InputError(
            f"no run has a measure {measure!r}; try --measure {'score' if measure == 'accuracy' else 'accuracy'}"
        )
    plans = {run.id: method.read(run)[0] for run in runs}
    return Board(
        measure=measure,
        scale=scale,
        method=method.name,
        data=tuple(
            BoardData(
                title=data.title,
                n=max(len(side.places) for run in data.runs for side in sides[run.id].values()),
                runs=tuple(
                    BoardRun(run=run.id, judge=plans[run.id].judge_name, created_at=run.created_at) for run in data.runs
                ),
            )
            for data in data_sets
        ),
        models=_models(data_sets, entries, measure, seed),
        others=tuple(sorted(others, key=lambda entry: (entry.model, entry.data, entry.created_at))),
        simulated=tuple(simulated_names(spec for plan in plans.values() for spec in plan.models.values())),
        warnings=tuple(_warnings(data_sets, {run: plan.judge_name for run, plan in plans.items()})),
        seed=seed,
    )


def _answers(sides: Mapping[str, ComparisonSide]) -> list[ComparedAnswer]:
    return [answer for side in sides.values() for answers in side.answers.values() for answer in answers]


def _data_sets(runs: Sequence[Run], sides: Mapping[str, Mapping[str, ComparisonSide]]) -> list[_DataSet]:
    """Return the data sets of runs (newest first), ordered by title; sets that share samples are merged."""
    groups: list[tuple[set[str], list[Run]]] = []
    for run in runs:
        digests = {place.digest for side in sides[run.id].values() for place in side.places}
        joined = [group for group in groups if group[0] & digests]
        groups = [group for group in groups if not group[0] & digests]
        merged = [*(other for group in joined for other in group[1]), run]
        merged.sort(key=lambda other: (other.created_at, other.id), reverse=True)
        groups.append((digests.union(*(group[0] for group in joined)), merged))
    names = [members[0].data_name or members[0].id for _, members in groups]
    data_sets: list[_DataSet] = []
    for (_, members), name in zip(groups, names, strict=True):
        title = name if names.count(name) == 1 else f"{name} ({members[0].id})"
        by_model: dict[str, list[tuple[Run, ComparisonSide]]] = {}
        for run in members:
            for model, side in sides[run.id].items():
                by_model.setdefault(model, []).append((run, side))
        for listed in by_model.values():
            listed.sort(key=lambda counted: -len(counted[1].places))
        data_sets.append(_DataSet(title, members, by_model))
    return sorted(data_sets, key=lambda data: data.title)


def _entry(
    run: Run, side: ComparisonSide, measure: Measure, scale: tuple[float, float], seed: int
) -> BoardEntry | None:
    """Return a model's figure on a run's samples, as in its own results; None if no sample has a value."""
    values = [(place.cluster, value) for place in side.places if (value := _value(side, place, measure)) is not None]
    if not values:
        return None
    if measure == "accuracy":
        clustered = [(place.cluster, side.answers.get(place.sample_id, ())) for place in side.places]
        rate = strict_accuracy(
            [answer.correctness for _, answers in clustered for answer in answers],
            [cluster for cluster, answers in clustered for _ in answers],
        )
        limits = rate.model_dump(include={"low", "high", "no_interval", "interval_method"})
        figure = None if rate.share is None else Interval(mean=rate.share, **limits)
    else:
        clusters, numbers = zip(*values, strict=True)
        figure = mean_with_interval(numbers, clusters, seed=run.seed, bounds=scale)
    assert figure is not None  # values exist
    return BoardEntry(
        run=run.id,
        n=len(side.places),
        n_measured=len(values),
        coverage=rounded(len(values) / len(side.places)),
        figure=figure,
    )


def _value(side: ComparisonSide, place: SampleRef, measure: Measure) -> float | None:
    if measure == "score":
        return side.score(place)
    return side.mean(place, "strict")


def _models(
    data_sets: Sequence[_DataSet], entries: Mapping[str, Mapping[str, BoardEntry]], measure: Measure, seed: int
) -> dict[str, BoardModel]:
    """Return the models, ordered by mean, those with all data sets first."""
    means = {
        name: mean_of([by_data[data.title].figure for data in data_sets])
        for name, by_data in entries.items()
        if len(by_data) == len(data_sets)
    }
    ranked = sorted(means, key=lambda name: (-means[name].mean, name))
    pairs = list(combinations(ranked, 2))
    ranks = simultaneous_ranks(ranked, pairs, _differences(data_sets, ranked, measure), seed=seed).ranks
    models = {
        name: BoardModel(
            entries=dict(entries[name]),
            mean=means[name],
            rank=1 + sum(means[other].mean > means[name].mean for other in ranked),
            rank_interval=ranks[name],
        )
        for name in ranked
    }
    for name in sorted(entries.keys() - means.keys()):
        models[name] = BoardModel(entries=dict(entries[name]), mean=None, rank=None, rank_interval=None)
    return models


def mean_of(figures: Sequence[Interval]) -> Interval:
    """Return the mean of independent figures, with an interval from their intervals.

    Each end's distance from the mean is the root of the summed squares of the figures' distances, divided by their
    number (Zou and Donner, 2008: the method of variance estimates recovery), which preserves the shape of intervals
    near an end.
    """
    mean = rounded(sum(figure.mean for figure in figures) / len(figures))
    lacking = next((figure for figure in figures if figure.low is None or figure.high is None), None)
    if lacking is not None:
        return Interval(mean=mean, low=None, high=None, no_interval=lacking.no_interval)
    distance_below = sqrt(sum((figure.mean - (figure.low or 0.0)) ** 2 for figure in figures)) / len(figures)
    above = sqrt(sum(((figure.high or 0.0) - figure.mean) ** 2 for figure in figures)) / len(figures)
    method: IntervalMethod = next((figure.interval_method for figure in figures if figure.interval_method), None)
    return Interval(mean=mean, low=rounded(mean - distance_below), high=rounded(mean + above), interval_method=method)


def _differences(data_sets: Sequence[_DataSet], names: Sequence[str], measure: Measure) -> Floats:
    """Return the differences of all pairs of models, by cluster and pair: the second's mean minus the first's."""
    pairs = list(combinations(range(len(names)), 2))
    parts: list[Floats] = []
    for data in data_sets:
        keys: dict[Key, int] = {}
        clusters: list[str] = []
        columns: list[dict[int, float]] = []
        for name in names:
            side = data.sides[name][0][1]
            cluster_numbers: dict[str, int] = {}
            values: dict[int, float] = {}
            for place in side.places:
                count = cluster_numbers[place.digest] = cluster_numbers.get(place.digest, -1) + 1
                at = keys.setdefault((place.digest, count), len(keys))
                if at == len(clusters):
                    clusters.append(place.cluster)
                if (value := _value(side, place, measure)) is not None:
                    values[at] = value
            columns.append(values)
        table = np.full((len(names), len(keys)), np.nan)
        for row, values in enumerate(columns):
            table[row, list(values)] = list(values.values())
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
        of_key = np.array([numbers[cluster] for cluster in clusters], dtype=np.intp)
        part: Floats = np.zeros((len(numbers), len(pairs)))
        for column, (first, second) in enumerate(pairs):
            steps = table[second] - table[first]
            both = np.isfinite(steps)
            if both.any():
                sums = np.bincount(of_key[both], weights=steps[both], minlength=len(numbers))
                part[:, column] = sums / (np.count_nonzero(both) * len(data_sets))
        parts.append(part)
    if parts:
        return np.concatenate(parts)
    return np.zeros((0, len(pairs)))


def _warnings(data_sets: Sequence[_DataSet], judges: Mapping[str, str]) -> list[str]:
    """Return a warning for each data set whose models were judged by different judges."""
    warnings: list[str] = []
    for data in data_sets:
        counted = dict.fromkeys(listed[0][0].id for listed in data.sides.values())
        names = sorted({judges[run] for run in counted} - {""})
        if len(names) > 1:
            warnings.append(
                f"{data.title} was judged by {' and '.join(names)}, so differences between its models may be due to the judges"
            )
    return warnings
