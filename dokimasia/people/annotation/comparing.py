"""Comparison of annotations with judges: runs whose judge rated the same units, or files of a judge's ratings."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dokimasia.algorithms.statistics.replacement import EPSILON
from dokimasia.datasets.annotations import read_annotations
from dokimasia.domain.annotation import SCALES, SCORE, Annotation, AnnotationUnit
from dokimasia.errors import ConfigError, DataError
from dokimasia.people.annotation.agreement import RIGHT_OR_WRONG, AnnotationFigures, Ends, agreement_figures
from dokimasia.people.annotation.collecting import known_units
from dokimasia.people.annotation.rated import SampleOrigin, origin_of, put_together, scale_in, scale_of
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.figures import simulated_names
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples

WITHOUT_VALUE = "without a value"
UNKNOWN_SAMPLE = "of a sample that no judge was given"
UNKNOWN_MODEL = "of a model that no judge was given"
"""Reasons for excluding annotations from all figures."""


def judged_of(home: Home, run: Run, scale: Ends) -> dict[str, dict[AnnotationUnit, float]]:
    """Return the ratings of a run's judge by unit, for each way of judging (named after the judge).

    Scores are converted to people's scale.

    Raises:
        ConfigError: the run has no ratings that can be compared with people's.
    """
    method = method_named(run.method)
    name = _judge_name(run)
    if method.people.judged is not None:
        ways = method.people.judged(home, run)
        return {f"{name}, {way}" if way else name: dict(judge_ratings) for way, judge_ratings in ways.items()}
    if method.scores.scale is None:
        raise ConfigError(f"run {run.id}: {method.title} has no judge's scores that could be held against people's")
    low, high = method.scores.scale
    kind = method.row_kind
    stretch = (scale[1] - scale[0]) / (high - low)
    ratings: dict[AnnotationUnit, float] = {}
    for row in results(home, run.id, as_judged=True):
        if row.kind == kind and row.model and not row.arm and not row.repeat and row.score is not None:
            unit = AnnotationUnit(row.sample_id, SCORE, row.model)
            ratings[unit] = scale[0] + (row.score - low) * stretch
    return {name: ratings}


class DecidedVerdicts(NamedTuple):
    """A run's decisions on whether answers are right, 1 or 0 by unit: the judge's own, and those of rules."""

    by_judge: dict[AnnotationUnit, float]
    by_rule: dict[AnnotationUnit, float]


def verdicts_of(home: Home, run: Run) -> DecidedVerdicts | None:
    """Return a run's yes-or-no decisions on answers, first repeats only; None if its method makes no such decisions.

    Answers that rules left undecided and no judge was asked about are in neither.

    Raises:
        ConfigError: nothing was decided.
    """
    decisions = method_named(run.method).people.decisions
    if decisions is None:
        return None
    verdicts = DecidedVerdicts({}, {})
    for measure in decisions(home, run).measures:
        for answers in measure.models.values():
            for answer in answers:
                if answer.decision is None or answer.undecided or answer.repeat:
                    continue
                side = verdicts.by_judge if answer.decision.by_judge else verdicts.by_rule
                side[answer.unit] = float(answer.decision.right)
    if not (verdicts.by_judge or verdicts.by_rule):
        raise ConfigError(
            f"run {run.id} has decided of no answer whether it is right, and labels of right and wrong have nothing to be held "
            "against: its samples need reference answers"
        )
    return verdicts


def compare(
    home: Home | None,
    path: Path,
    *,
    runs: Sequence[Run] = (),
    judged: Sequence[Path] = (),
    scale: tuple[int, int] | None = None,
    epsilon: float = EPSILON,
) -> AnnotationFigures:
    """Return the agreement figures of a file of annotations: people with each other, and judges with people.

    Args:
        home: the home of the runs.
        path: the file of annotations.
        runs: runs whose judges are compared with people; they also define samples, models and clusters.
        judged: files of a judge's ratings, in the form of annotations with the judge as annotator.
        scale: people's scale of scores; by default that of the file's lines, or else 1 to 5. With 0 and 1, a run's
            verdicts are compared instead of its scores, and decisions of rules are kept separate.
        epsilon: margin of the replacement test: how much more often a person may be closer to the others than a judge.

    Raises:
        DataError: an annotation or a judge's rating is unusable, with file and line; or samples and models of all
            annotations are unknown. Annotations without a value, or of some unknown samples or models, are left out and
            counted.
        ConfigError: a run has no ratings that can be compared with people's.
    """
    unrated: list[int] = []
    annotations = read_annotations(path, unrated=unrated)
    scale = scale or scale_in(annotations, name=str(path))
    judges: dict[str, dict[AnnotationUnit, float]] = {}
    rules: dict[str, dict[AnnotationUnit, float]] = {}
    places: dict[str, SampleOrigin] = {}
    models: list[str] = []
    for run in runs:
        if home is None:
            raise ConfigError("a run needs a home")
        verdicts = verdicts_of(home, run) if scale == RIGHT_OR_WRONG else None
        if verdicts is not None:
            name = _fresh(judges, _judge_name(run), run.id)
            judges[name] = verdicts.by_judge
            rules |= {name: verdicts.by_rule} if verdicts.by_rule else {}
        else:
            for name, scores in judged_of(home, run, scale or SCALES[SCORE]).items():
                judges[_fresh(judges, name, run.id)] = scores
        models += simulated_names(_plan(run).models.values())
        places |= {sample.id: origin_of(sample) for sample in load_samples(home, run.id)}
    left_out = Counter({WITHOUT_VALUE: len(unrated)})
    for file in judged:
        by_judge: dict[str, dict[AnnotationUnit, float]] = {}
        for rating in read_annotations(file, unrated=[]):
            by_judge.setdefault(rating.annotator, {})[rating.unit] = rating.value
        for name, scores in sorted(by_judge.items()):
            judges[_fresh(judges, name, file.name)] = scores
    judged_units: list[AnnotationUnit] = []
    for scores in (*judges.values(), *rules.values()):
        judged_units += scores
    annotations = _known_annotations(path, annotations, judged_units, places, left_out)
    measures = sorted({annotation.unit.measure for annotation in annotations})
    ends = {measure: scale_of(measure, annotations, scale, name=str(path)) for measure in measures}
    rated = put_together(annotations, places.get)
    adjudicators = {annotation.annotator for annotation in annotations if annotation.adjudicates}
    annotators = {annotation.annotator for annotation in annotations if not annotation.adjudicates}
    return AnnotationFigures(
        annotations=path.name,
        annotators=tuple(sorted(annotators)),
        adjudicators=tuple(sorted(adjudicators)),
        simulated=tuple(sorted(set(models))),
        left_out={reason: count for reason, count in left_out.items() if count},
        measures=agreement_figures(rated, judges, ends, ruled=rules, epsilon=epsilon),
    )


def _known_annotations(
    path: Path,
    annotations: Sequence[Annotation],
    units: Sequence[AnnotationUnit],
    places: Mapping[str, SampleOrigin],
    left_out: Counter[str],
) -> list[Annotation]:
    """Return the annotations of samples and models in a run or a judge's file, and count the others by reason.

    Raises:
        DataError: there are none.
    """
    if not units and not places:
        return list(annotations)
    known = known_units([*units, *(AnnotationUnit(id, "") for id in places)], "what they are held against")
    samples = {*places, *(unit.id for unit in units)}
    known_annotations: list[Annotation] = []
    first = ""
    for annotation in annotations:
        problem = known(annotation.unit)
        if problem is None:
            known_annotations.append(annotation)
            continue
        first = first or f"{path}, line {annotation.line}: {problem}"
        left_out[UNKNOWN_MODEL if annotation.unit.id in samples else UNKNOWN_SAMPLE] += 1
    if not known_annotations:
        raise DataError(
            f"{first}; it is so of all {len(annotations):,} annotations: is it the wrong run, or the wrong file? `annotate "
            "draw` has said what they were drawn from"
        )
    return known_annotations


def _judge_name(run: Run) -> str:
    return _plan(run).judge_name or run.method


def _plan(run: Run) -> Any:
    return run.plan_as(method_named(run.method).plan)


def _fresh(judges: Collection[str], name: str, source: str) -> str:
    if name in judges:
        return f"{name} ({source})"
    return name
