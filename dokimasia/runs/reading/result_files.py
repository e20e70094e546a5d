"""Comparison of result files, of other harnesses or runs, by item, without a home or calls; and their exported rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics import false_discovery_rate, rate_interval
from dokimasia.datasets.columns import OTHER_NAMES
from dokimasia.errors import InputError
from dokimasia.integrations import FAILURES, ItemFailure, ItemResult, ResultsFile
from dokimasia.integrations.tables import COLUMN_NAMES
from dokimasia.report.data import ReportData, RunFacts
from dokimasia.report.fields import Interval, as_json
from dokimasia.report.figures import in_words
from dokimasia.report.results import ModelResults, ResultsComparison, ResultsPair, ResultsSource, results_drawing
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.measures import (
    bounds_over_failures,
    coverage,
    interval_of,
    mean,
    mean_with_interval,
    rounded,
    samples_that_show,
)
from dokimasia.runs.method import ColumnType, Export
from dokimasia.runs.reading.comparison import (
    ComparedAnswer,
    ComparisonSide,
    Models,
    SampleRef,
    Scale,
    compare,
    match_places,
    sides_of,
)
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.version import __version__

UNIT_SCALE: Scale = (0.0, 1.0)

MOST_PAIRS = 200
"""The most pairs of models that are compared."""

MOST_COLUMNS = 20
"""The most columns named in a message."""

NAMED = 3
"""The most items named in a message."""

COLUMNS: Mapping[str, ColumnType] = {
    "id": "text",
    "model": "text",
    "repeat": "integer",
    "response": "text",
    "score": "number",
    "failure": "text",
    "reason": "text",
    "recorded": "number",
    "category": "text",
    "image": "texts",
    "harness": "text",
    "version": "text",
    "scorer": "text",
    "file": "text",
    "line": "integer",
    "simulated": "truth",
}
"""The columns of exported results, which are read again as a table."""

_RUN_FAILURES: Mapping[str, ItemFailure] = {"refused": "refused", "unparsable": "unparsed", "api_error": "api_error"}
"""Failures of runs that have their own name among those of results; others are unscored."""


class _ModelSide(NamedTuple):
    """A model in a file: its rows, and its side of comparisons."""

    file: ResultsFile
    model: str
    rows: Sequence[ItemResult]
    side: ComparisonSide


def results_of_run(home: Home, run: Run) -> ResultsFile:
    """Return the rows of a run as a results file: right or wrong where decided, otherwise the score.

    Raises:
        InputError: the run has no result.
    """
    sides = sides_of(home, run)
    decided = any(
        answer.right is not None for side in sides.values() for answers in side.answers.values() for answer in answers
    )
    rows: list[ItemResult] = []
    for name, side in sides.items():
        for place in side.places:
            images = () if place.cluster.startswith("sample:") else (place.cluster,)
            for answer in side.answers.get(place.sample_id, ()):
                score = answer.right if decided else answer.score
                failure = None if score is not None else _RUN_FAILURES.get(answer.failure or "", "unscored")
                rows.append(
                    ItemResult(
                        item=place.sample_id,
                        model=name,
                        repeat=answer.repeat,
                        score=score,
                        failure=failure,
                        reason=(answer.failure or "") if failure else "",
                        recorded=score,
                        images=images,
                        content=place.digest,
                    )
                )
    if not rows:
        raise InputError(f"run {run.id} has no result yet; it is {run.status}")
    scorer = "right or wrong" if decided else "score"
    simulated = tuple(simulated_names(method_of(run).read(run)[0].models.values()))
    version = run.version or None
    return ResultsFile(Path(run.id), "run", "Dokimasia", version, scorer, tuple(rows), simulated=simulated)


def compare_results(
    files: Sequence[ResultsFile],
    *,
    models: Models | None = None,
    scale: Scale | None = None,
    top: int = 10,
    seed: int = 0,
    alone: bool = False,
) -> ResultsComparison:
    """Return the models of files compared by item; differences are the later minus the earlier, in the order of the
    files.

    Files with several models each are compared model by model if they share some. Otherwise, as with files of one
    model, every two models are compared. Items that share an image form one cluster.

    Args:
        files: the results.
        models: compare only the second of these models with the first.
        scale: the lowest and the highest score; by default the one that all files name, or else 0 and 1, or of scores
            beyond that the lowest and the highest.
        top: the number of most changed items to list for each pair.
        seed: seed of intervals and tests.
        alone: whether a single model is accepted, without any pair.

    Raises:
        InputError: there is nothing to compare, a file is named twice, no item is in both files, no item has a score,
            scores are not on one scale, or a model does not exist.
    """
    clusters, has_images = _clusters(row for file in files for row in file.rows)
    sides = _sides(files, clusters)
    if scale is None and len({file.scale for file in files}) == 1:
        scale = files[0].scale
    scale = _scale(sides, scale)
    pairs = _pairs(sides, models)
    if not pairs and not alone:
        raise InputError(
            f"{', '.join(str(file.path) for file in files)} has one model, {next(iter(sides))}: name another file to compare "
            "it with"
        )
    if pairs:
        _check_scores(files)
    if pairs and not any(row.score is not None for file in files for row in file.rows):
        raise InputError(
            "no item has a score, so that there is nothing to compare: name a judged file, or the column of scores with "
            "--map score=COLUMN"
        )
    if pairs:
        _check_distinct(files)
    compared = [_compared(name, sides, scale=scale, top=top, seed=seed) for name in pairs]
    if pairs and not any(pair.n_shared for pair in compared):
        raise InputError(_nothing_shared(sides, pairs[0], compared[0]))
    by_id_alone = ""
    if pairs and len(files) > 1:
        by_id_alone = _incomparable(files)
    return ResultsComparison(
        sources=tuple(_source(file) for file in files),
        models={name: _model_results(side, clusters, scale=scale, seed=seed) for name, side in sides.items()},
        pairs=tuple(_adjusted(compared)),
        direction="second minus first",
        simulated=tuple(dict.fromkeys(name for file in files for name in file.simulated)),
        scale=scale,
        clusters="images" if has_images else "items",
        n_clusters=len(set(clusters.values())),
        by_id_alone=by_id_alone,
        seed=seed,
    )


def _check_distinct(files: Iterable[ResultsFile]) -> None:
    """Check that no file is compared with itself.

    Raises:
        InputError: a file, or a run, is named twice.
    """
    results: dict[Path, list[tuple[str, int, float | None]]] = {}
    for file in files:
        rows = [(row.item, row.repeat, row.score) for row in file.rows]
        if results.setdefault(file.path, rows) is not rows and results[file.path] == rows:
            raise InputError(f"{file.path} is named twice, and does not differ from itself; name another file")


def _incomparable(files: Sequence[ResultsFile]) -> str:
    """Return why the questions of files cannot be compared; empty if they can."""
    without = [file.path.name for file in files if not all(row.content for row in file.rows)]
    if len(without) == 1:
        return f"{without[0]} has no questions to compare"
    if without:
        return f"{in_words(without)} have no questions to compare"
    kinds = list(dict.fromkeys(file.format for file in files))
    if len(kinds) > 1:
        return f"the questions of {in_words(kinds)} are not written alike and cannot be compared"
    return ""


def _check_scores(files: Iterable[ResultsFile]) -> None:
    """Check that each compared table has a column of scores.

    Raises:
        InputError: one has none, so nothing could be compared; the message names its columns.
    """
    for file in files:
        if file.columns and not file.scorer:
            raise InputError(
                f"{file.path} has no column of scores, so that there is nothing to compare: name it with --map score=COLUMN, or "
                f"name a judged file. It has {', '.join(file.columns[:MOST_COLUMNS])}{_scoring(file)}"
            )


def _scoring(file: ResultsFile) -> str:
    """Return how to score the answers of a table with references; empty for others."""
    answers = [name for name in COLUMN_NAMES["answer"] if name in file.columns][:1]
    references = {"reference_answer", *OTHER_NAMES["reference_answer"].split()}.intersection(file.columns).difference(
        answers
    )
    if not answers or not references:
        return ""
    return f"; it has references: `dokimasia evaluate DATA --responses {file.path}` scores them"


def _clusters(rows: Iterable[ItemResult]) -> tuple[dict[str, str], bool]:
    """Return the cluster of each item, by the images that items share, and whether any image is known."""
    parents: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        parents.setdefault(node, node)
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    items: dict[str, None] = {}
    has_images = False
    for row in rows:
        items[row.item] = None
        for image in row.images:
            has_images = True
            one, other = sorted((root(("item", row.item)), root(("image", image))))
            parents[other] = one
    return {item: "\0".join(root(("item", item))) for item in items}, has_images


def _sides(files: Sequence[ResultsFile], clusters: Mapping[str, str]) -> dict[str, _ModelSide]:
    """Return the models of all files by displayed name, which includes the file's name if two share a name."""
    by_content = not _incomparable(files)
    models = Counter(model for file in files for model in file.models)
    names = Counter(f"{model} ({file.path.name})" for file in files for model in file.models)
    sides: dict[str, _ModelSide] = {}
    for number, file in enumerate(files, start=1):
        for model in file.models:
            rows = [row for row in file.rows if row.model == model]
            name = model
            if models[model] > 1:
                name = f"{model} ({file.path.name})"
                name = f"{model} ({number}: {file.path.name})" if names[name] > 1 else name
            places = {
                row.item: SampleRef(
                    row.item, f"{row.item}\0{row.content}" if by_content else row.item, clusters[row.item]
                )
                for row in rows
            }
            answers = [ComparedAnswer(row.item, row.repeat, row.score, row.failure) for row in rows]
            sides[name] = _ModelSide(file, model, rows, ComparisonSide.of(list(places.values()), answers))
    return sides


def _scale(sides: Mapping[str, _ModelSide], scale: Scale | None) -> Scale:
    """Return the lowest and the highest score."""
    scores: dict[str, list[float]] = {}
    for name, side in sides.items():
        scores[name] = [row.score for row in side.rows if row.score is not None]
    all_scores = [score for values in scores.values() for score in values]
    if scale is not None:
        low, high = scale
        if not (isfinite(low) and isfinite(high) and low < high):
            raise InputError(
                f"a scale has a lowest and a higher highest score, such as 0,100, and not {low:g},{high:g}"
            )
        outside = next((score for score in all_scores if not low <= score <= high), None)
        if outside is not None:
            raise InputError(f"the score {outside:g} lies outside the scale of {low:g} to {high:g}")
        return scale
    within = {name for name, values in scores.items() if all(0 <= score <= 1 for score in values)}
    if len(within) == len(scores):
        return UNIT_SCALE
    shares = next((name for name in within if scores[name] and max(scores[name]) == 1), None)
    if shares is not None:
        other = next(name for name in scores if name not in within)
        raise InputError(
            f"scores of {shares} lie from 0 to 1 and those of {other} up to {max(scores[other]):g}: bring them to one scale, or "
            "say that they are on one with --scale LOW,HIGH"
        )
    low, high = min(all_scores), max(all_scores)
    return (min(0.0, low), high if high > min(0.0, low) else high + 1)


def _pairs(sides: Mapping[str, _ModelSide], models: Models | None) -> list[Models]:
    """Return the pairs of names to compare, each with the earlier model first."""
    if models is not None:
        for name in models:
            if name not in sides:
                raise InputError(f"no model {name!r} in these files; there are {', '.join(sides)}")
        if models[0] == models[1]:
            raise InputError(f"{models[0]} does not differ from itself; name two models")
        return [models]
    pairs = list(combinations(sides, 2))
    files = list(dict.fromkeys(side.file.path for side in sides.values()))
    same = [
        (one, other)
        for one, other in pairs
        if sides[one].model == sides[other].model and sides[one].file.path != sides[other].file.path
    ]
    if len(files) == 2 and len(sides) > 2 and same:
        return same
    if len(pairs) > MOST_PAIRS:
        raise InputError(f"{len(sides)} models make {len(pairs):,} pairs; name two of them with --models A,B")
    return pairs


def _compared(pair: Models, sides: Mapping[str, _ModelSide], *, scale: Scale, top: int, seed: int) -> ResultsPair:
    first, second = sides[pair[0]].side, sides[pair[1]].side
    comparison = compare(first, second, seed=seed, top=top, scale=scale, models=pair)
    shared, unshared = match_places(first.places, second.places)
    columns = [
        side.values("score", places) for side, places in zip((first, second), zip(*shared, strict=True), strict=False)
    ]
    needed = None
    if shared:
        steps = columns[1] - columns[0]
        usable = np.isfinite(steps)
        clusters = [place.cluster for (place, _), used in zip(shared, usable.tolist(), strict=True) if used]
        measured = steps[usable]
        if measured.size:
            needed = samples_that_show(float(measured.mean()), measured.tolist(), clusters)
    paired = {place.sample_id for place, _ in shared}
    others = ({place.sample_id for place in first.places} & {place.sample_id for place in second.places}) - paired
    lost = {reason: number for reason, number in comparison.lost.items() if reason not in unshared}
    return ResultsPair(
        **comparison.model_dump(include={"first", "second", "difference", "p_value", "permutations", "changed"}),
        first_model=pair[0],
        second_model=pair[1],
        n_shared=comparison.n_shared,
        n_paired=comparison.n_paired,
        only_first=unshared["only in the first run"] - len(others),
        only_second=unshared["only in the second run"] - len(others),
        other_content=len(others),
        lost=lost,
        adjusted=None,
        samples_needed=needed,
        bounds=comparison.bounds,
        most_changed=comparison.most_changed,
    )


def _adjusted(pairs: Sequence[ResultsPair]) -> list[ResultsPair]:
    adjusted = iter(false_discovery_rate([pair.p_value for pair in pairs if pair.p_value is not None]))
    return [
        pair if pair.p_value is None else pair.model_copy(update={"adjusted": rounded(next(adjusted))})
        for pair in pairs
    ]


def _nothing_shared(sides: Mapping[str, _ModelSide], pair: Models, compared: ResultsPair) -> str:
    if compared.other_content:
        return (
            f"{pair[0]} and {pair[1]} have {compared.other_content} item ids in common, and behind each stands another "
            "question: compare results on one data set"
        )
    examples = [", ".join(place.sample_id[:40] for place in sides[name].side.places[:NAMED]) for name in pair]
    return (
        f"{pair[0]} and {pair[1]} have no item in common: one has {examples[0]}, the other {examples[1]}. Items are paired by "
        "their ids; in a table name the column with --map item=COLUMN"
    )


def _source(file: ResultsFile) -> ResultsSource:
    return ResultsSource(
        file=str(file.path),
        format=file.format,
        harness=file.harness,
        version=file.version,
        scorer=file.scorer,
        items=len({row.item for row in file.rows}),
        models=tuple(file.models),
        notes=file.notes,
    )


def _model_results(side: _ModelSide, clusters: Mapping[str, str], *, scale: Scale, seed: int) -> ModelResults:
    scores: dict[str, list[float]] = {}
    recorded: dict[str, list[float]] = {}
    failed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for row in side.rows:
        scores.setdefault(row.item, [])
        if row.recorded is not None:
            recorded.setdefault(row.item, []).append(row.recorded)
        if row.score is not None:
            scores[row.item].append(row.score)
        elif row.failure is not None:
            failed[row.item] += 1
            kinds[row.failure] += 1
    scored = {item: sum(values) / len(values) for item, values in scores.items() if values}
    samples = [(values, failed[item]) for item, values in scores.items()]
    return ModelResults(
        file=str(side.file.path),
        model=side.model,
        **coverage((len(values), count) for values, count in samples),
        score=_score(list(scored.values()), [clusters[item] for item in scored], scale=scale, seed=seed),
        recorded=mean([sum(values) / len(values) for values in recorded.values()]),
        failures={kind: kinds[kind] for kind in FAILURES if kinds[kind]},
        bounds=bounds_over_failures(samples, *scale),
    )


def _score(values: Sequence[float], clusters: Sequence[str], *, scale: Scale, seed: int) -> Interval | None:
    """Return the mean with its interval: of a rate if every item is right or wrong, otherwise by bootstrap."""
    if values and scale == UNIT_SCALE and set(values) <= {0.0, 1.0}:
        ends = rate_interval([value == 1 for value in values], clusters=clusters)
        return interval_of(sum(values) / len(values), ends)
    return mean_with_interval(values, clusters, seed=seed, bounds=scale)


def export_results(files: Sequence[ResultsFile]) -> Export:
    """Return the rows of files as one table, which can be read again; null means unknown."""
    rows: list[Mapping[str, object]] = []
    for file in files:
        for row in file.rows:
            rows.append(
                {
                    "id": row.item,
                    "model": row.model,
                    "repeat": row.repeat,
                    "response": row.answer,
                    "score": row.score,
                    "failure": row.failure,
                    "reason": row.reason or None,
                    "recorded": row.recorded,
                    "category": row.category,
                    "image": list(row.images) or None,
                    "harness": file.harness,
                    "version": file.version,
                    "scorer": file.scorer or None,
                    "file": file.path.name,
                    "line": row.line or None,
                    "simulated": row.model in file.simulated,
                }
            )
    return Export(COLUMNS, rows)


MOST_STEMS = 3
"""The most files whose names form that of their report."""


def report_file(names: Sequence[str | Path], format: str) -> Path:
    """Return the path, in the working folder, of a report on files."""
    stems = [Path(name).stem for name in names[:MOST_STEMS]]
    return Path(f"{'-'.join(stems)}.{format}")


def results_report(comparison: ResultsComparison) -> ReportData:
    """Return the data of a page or a document on a comparison without a run."""
    names = [Path(source.file).name for source in comparison.sources]
    facts = RunFacts(
        run="",
        status="done",
        command="",
        data_name=", ".join(names),
        data_hash="",
        seed=comparison.seed,
        accepted_by="",
        written_by=__version__,
        models=(),
        prompts=(),
        graphs={},
    )
    return ReportData(results_drawing(comparison), facts, as_json(comparison), comparison)
