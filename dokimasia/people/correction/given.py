"""Inputs of a correction: a file with a mix of kinds of error, and people's labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, get_args

import orjson

from dokimasia.algorithms.correction import ShareEstimate, as_shares, mixed_sensitivity, same_kinds
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.datasets.annotations import read_annotations
from dokimasia.datasets.lines import refuse
from dokimasia.domain.annotation import HOLDS, SCORE, Annotation, AnnotationUnit
from dokimasia.domain.blindspots import Task
from dokimasia.domain.passport import BinaryCount, BinaryRates, MeasuredShare
from dokimasia.domain.wording import percentage
from dokimasia.errors import DataError, NotFound
from dokimasia.people.annotation import RatedUnit, answers_of_run, put_together
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.report.figures import HIGHEST, LOWEST, in_words
from dokimasia.runs.decisions import DecidedRun
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

MAX_BYTES = 1024 * 1024
FORM = 'a mix is a JSON object with "shares" or "counts" of kinds of error: {"shares": {"numerical_errors": 0.6, "VG": 0.4}}'
MAJORITY_OF = 3
"""Minimum number of people whose majority settles an answer."""

DRAWN_AT_LEAST = 0.001
"""The p-value below which labels are refused because they are not a random draw of the samples."""


class Mix(NamedTuple):
    """Kinds of error with their shares or, if `counted`, their counts; `source` is the name of the file."""

    kinds: Mapping[str, float]
    counted: bool
    source: str

    @property
    def seen(self) -> int | None:
        """The number of counted errors; None for shares."""
        if self.counted:
            return int(sum(self.kinds.values()))
        return None


class Labels(NamedTuple):
    """People's labels of a run's answers.

    Attributes:
        right: whether each unit is right.
        kinds: unit and kind of error, for wrong answers that the judge decided and that have a kind.
        named: all kinds of error named for any answer.
        people: the number of people who labelled.
        drawn: why the labels are not a random draw; empty if they may be one.
        p_value: the p-value of the labelled samples' categories under a random draw; None with fewer than two categories.
        by_majority: the number of answers on which three or more people differ and most of them agree.
        ruled: the number of labelled answers that rules decided.
        contradicting: of these, those whose label contradicts the rule.
        rated: the SHA-256 of the rated response, for units that have one.
        strata: the category of each sample, if the labels were drawn at random within each category.
        together: whether they are also a random draw of all answers, so that small categories may be pooled.
    """

    right: Mapping[AnnotationUnit, bool]
    kinds: Sequence[tuple[AnnotationUnit, str]]
    named: frozenset[str]
    people: int
    drawn: str
    p_value: float | None
    by_majority: int = 0
    ruled: int = 0
    contradicting: int = 0
    rated: Mapping[AnnotationUnit, str] = MappingProxyType({})
    strata: Mapping[str, str] | None = None
    together: bool = True

    def by_category(self, categories: Mapping[str, str]) -> "Labels":
        """Return the labels as random draws within each category.

        Unless they are also a random draw of all answers, each category needs enough labels of its own.
        """
        return self._replace(strata=categories, together=not self.drawn, drawn="")


class ScoreLabels(NamedTuple):
    """People's scores of answers (mean or adjudicated, 1 to 5), the number of people, and the hashes of the rated responses."""

    scores: Mapping[AnnotationUnit, float]
    people: int
    rated: Mapping[AnnotationUnit, str]


def read_mix(path: Path) -> Mix:
    """Return the mix of a file.

    Raises:
        NotFound: there is no such file.
        DataError: it is not a mix.
    """
    try:
        body = _small_json(path)
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file; {FORM}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: no JSON ({error.msg}); {FORM}") from None
    if not isinstance(body, dict) or len(body) != 1:
        raise DataError(f"{path}: no mix; {FORM}")
    form, kinds = next(iter(body.items()))
    if form not in ("shares", "counts") or not isinstance(kinds, dict):
        raise DataError(f"{path}: no mix; {FORM}")
    counted, unit = form == "counts", "share"
    if counted:
        unit = "whole number"
    for name, value in kinds.items():
        if type(value) not in (int, float) or value < 0 or (counted and value != int(value)):
            raise DataError(f"{path}: {name}: {str(value)[:40]!r} is no {unit} of at least 0")
    if sum(kinds.values()) <= 0:
        raise DataError(f"{path}: every kind of error has 0; {FORM}")
    return Mix(kinds, counted, path.name)


def _small_json(path: Path) -> object:
    """Return the JSON of a file of at most `MAX_BYTES`; None for a larger one."""
    if path.stat().st_size > MAX_BYTES:
        return None
    return orjson.loads(path.read_bytes())


def check_known(where: str, kinds: Iterable[str], rates: BinaryRates) -> None:
    """Check that a passport has measured the kinds of error.

    Raises:
        DataError: some are unknown; the message names them and the passport's kinds.
    """
    known: set[str] = set()
    for count in rates.by_dimension:
        known |= {count.dimension, count.group}
    if unknown := sorted(set(kinds) - known):
        raise DataError(
            f"{where}: the passport has measured no errors of the kind {in_words(unknown)}; it knows {in_words(sorted(known))}"
        )


def check_named(where: str, kinds: Iterable[str]) -> None:
    """Check that each kind of error is a dimension or group of some task.

    Raises:
        DataError: some are not; the message names them and the known kinds.
    """
    known: set[str] = set()
    for task in get_args(Task):
        for dimension in error_dimensions(task).values():
            known |= {dimension.name, dimension.group}
    known.discard("")
    if unknown := sorted(set(kinds) - known):
        raise DataError(
            f"{where}: there is no kind of error called {in_words(unknown)}; there are {in_words(sorted(known))}"
        )


def check_apart(where: str, kinds: Iterable[str], rates: BinaryRates) -> None:
    """Check that a mix does not name both a group and one of its dimensions.

    Raises:
        DataError: it does; the message names the dimensions.
    """
    named = set(kinds)
    if repeated := sorted(count.dimension for count in rates.by_dimension if {count.dimension, count.group} <= named):
        raise DataError(f"{where}: {in_words(repeated)} beside the whole group: name a group, or its dimensions")


def by_kind(rates: BinaryRates, kinds: Iterable[str]) -> tuple[dict[str, ShareEstimate], dict[str, int]]:
    """Return the sensitivity to each kind (a named dimension or group), and the number of errors that measured it.

    Dimensions of the passport outside all named groups are included; with groups alone, each dimension is thus in one
    kind.
    """
    named = set(kinds)
    counts_by_kind: dict[str, list[BinaryCount]] = {}
    for count in rates.by_dimension:
        kind = count.group if count.group in named else count.dimension
        counts_by_kind.setdefault(kind, []).append(count)
    sensitivity: dict[str, ShareEstimate] = {}
    numbers: dict[str, int] = {}
    for kind, counts in counts_by_kind.items():
        shares = {count.dimension: measured(count) for count in counts}
        weights = {count.dimension: count.n for count in counts}
        numbers[kind] = sum(weights.values())
        sensitivity[kind] = measured(counts[0]) if len(counts) == 1 else mixed_sensitivity(shares, weights)
    return sensitivity, numbers


def measured(rate: MeasuredShare) -> ShareEstimate:
    """Return a passport's share as an estimate for the correction."""
    if rate.share is None or rate.low is None or rate.high is None:
        return ShareEstimate(rate.share or 0.0, ConfidenceInterval(0.0, 1.0, rate.no_interval or "not measured"))
    return ShareEstimate(rate.share, ConfidenceInterval(rate.low, rate.high))


def in_kinds(names: Sequence[str], kinds: Iterable[str], rates: BinaryRates) -> list[str] | None:
    """Return kinds of error in terms of other kinds (a dimension as its group); None if one has no equivalent."""
    groups, known = {count.dimension: count.group for count in rates.by_dimension}, set(kinds)
    equivalents = [name if name in known else groups.get(name, "") for name in names]
    if known.issuperset(equivalents):
        return equivalents
    return None


def read_labels(path: Path, judged: DecidedRun, *, seed: int) -> Labels:
    """Return the labels of a file of annotations: 1 or 0 of responses (`score`) or of rubrics of responses (`holds`).

    Raises:
        NotFound: there is no such file.
        DataError: lines name a sample, model or rubric that is not in the run, or have a value other than 0 and 1, or
            people differ on answers; the message names each.
    """
    _no_passport(path)
    units: set[AnnotationUnit] = set()
    judges: set[AnnotationUnit] = set()
    ruled: dict[AnnotationUnit, bool] = {}
    for measure in judged.measures:
        for answers in measure.models.values():
            units |= {answer.unit for answer in answers}
            for answer in answers:
                if answer.repeat or answer.decision is None:
                    continue
                if answer.decision.by_judge:
                    judges.add(answer.unit)
                if answer.known:
                    ruled[answer.unit] = answer.decision.right
    models = sorted({unit.model for unit in units})

    def known(unit: AnnotationUnit) -> str | None:
        if unit in units:
            return None
        if unit.baseline or unit.measure not in (SCORE, HOLDS):
            return f"{unit} is no label of an answer: a line has id, model, annotator and value, 1 for right and 0 for wrong"
        if unit.id not in judged.categories:
            return f"the run has no sample {unit.id!r}"
        if unit.model not in models:
            return f"the run has no model {unit.model!r}; there are {in_words(models)}"
        return f"the run decides nothing of {unit}"

    annotations = read_annotations(path, known=known)
    refuse_values(
        path,
        [annotation for annotation in annotations if annotation.value not in (0, 1)],
        "neither 1 (right) nor 0 (wrong): annotate draw --scale 0-1 asks for these",
    )
    together = put_together(annotations)
    labels = {rated.unit: _label(rated) for rated in together}
    right = {unit: label for unit, label in labels.items() if label is not None}
    disputed = [unit for unit in labels if unit not in right]
    if disputed:
        raise DataError(
            f"{path}: people differ on {len(disputed)} answers, such as {disputed[0]}: have a third person rate them, whose word "
            "makes a majority, or decide with `annotate disagreements --more-than 0` and `annotate adjudicate`"
        )
    named = [annotation for annotation in annotations if annotation.error]
    kinds = {annotation.unit: annotation.error for annotation in named if not right[annotation.unit]}
    labelled = [unit for unit in right if unit in ruled]
    drawn, p_value = _draw_problem(right, judged, seed=seed)
    return Labels(
        right=right,
        kinds=[(unit, kind) for unit, kind in sorted(kinds.items()) if unit in judges],
        named=frozenset(annotation.error for annotation in named),
        people=_people(annotations),
        drawn=drawn,
        p_value=p_value,
        by_majority=sum(rated.adjudicated is None and rated.reference not in (0, 1) for rated in together),
        ruled=len(labelled),
        contradicting=sum(right[unit] != ruled[unit] for unit in labelled),
        rated=_response_hashes(annotations),
    )


def _people(annotations: Sequence[Annotation]) -> int:
    return len({annotation.annotator for annotation in annotations})


def _response_hashes(annotations: Sequence[Annotation]) -> dict[AnnotationUnit, str]:
    """Return the SHA-256 of the rated response by unit, if known."""
    return {annotation.unit: annotation.response_sha256 for annotation in annotations if annotation.response_sha256}


def refuse_values(path: Path, wrong: Iterable[Annotation], why: str) -> None:
    """Raise a DataError with the line of each annotation that has an unusable value."""
    refuse([f"{path}, line {annotation.line}: the value {annotation.value:g} is {why}" for annotation in wrong])


def read_scores(path: Path, judged: DecidedRun) -> ScoreLabels | None:
    """Return people's scores from a file of annotations; None if no value is above 1, as for right-or-wrong labels.

    Raises:
        NotFound: there is no such file.
        DataError: lines name a sample or model that the run has not scored, or have a value outside 1 to 5; the message
            names each.
    """
    _no_passport(path)
    units = {answer.unit for answers in judged.scores.values() for answer in answers}
    annotations = read_annotations(path)
    if not (judged.scores and any(LOWEST < annotation.value <= HIGHEST for annotation in annotations)):
        return None
    refuse_values(
        path,
        [annotation for annotation in annotations if not LOWEST <= annotation.value <= HIGHEST],
        "no score from 1 to 5 as others are: a file has scores or labels",
    )
    refuse(
        [
            f"{path}, line {annotation.line}: the run has no score of {annotation.unit}"
            for annotation in annotations
            if annotation.unit not in units
        ]
    )
    together = put_together(annotations)
    scores = {rated.unit: rated.reference for rated in together}
    return ScoreLabels(scores, _people(annotations), _response_hashes(annotations))


def _label(rated: RatedUnit) -> bool | None:
    """Return the label of an answer: the adjudicated or unanimous one, or the majority of three or more people."""
    if rated.reference in (0, 1):
        return rated.reference == 1
    if len(rated.said) < MAJORITY_OF or rated.reference == 0.5:
        return None
    return rated.reference > 0.5


def check_responses(where: str, labels: Labels | ScoreLabels, home: Home, run: Run) -> str:
    """Check that labels are of a run's responses; return a warning on labels without a response's hash.

    Raises:
        DataError: labels are of other responses; the message has the first and their number.
    """
    if labels.rated:
        answers = answers_of_run(home, run)
        other: list[AnnotationUnit] = []
        for unit, rated in sorted(labels.rated.items()):
            text = answers.get((unit.id, unit.model))
            if text is not None and sha256(text.encode()).hexdigest() != rated:
                other.append(unit)
        if other:
            raise DataError(
                f"{where}: {len(other)} of {len(labels.rated)} labels are of other responses than those of run {run.id}, such "
                f"as {other[0]}: name the run that they were drawn from, or draw labels of this one"
            )
    units = labels.right if isinstance(labels, Labels) else labels.scores
    missing = sum(not unit.criterion and unit not in labels.rated for unit in units)
    if not missing:
        return ""
    return (
        f"{missing} of {len(units)} labels do not say which response they are of (response_sha256, as annotate read "
        "writes it), so they cannot be verified to belong to this run"
    )


def _no_passport(path: Path) -> None:
    try:
        body = _small_json(path)
    except (OSError, orjson.JSONDecodeError):
        return
    if isinstance(body, dict) and {"binary", "judge", "sha256"} <= set(body):
        raise DataError(f"{path} is a passport: name it with --passport; --human takes annotations of people")


def _draw_problem(right: Mapping[AnnotationUnit, bool], judged: DecidedRun, *, seed: int) -> tuple[str, float | None]:
    """Return why labels are not a random draw of the answers without a rule, and the p-value, tested by categories.

    Each model's answers count in proportion to its labels. Labels of answers that rules decided have no effect and are
    not tested.
    """
    counts: dict[str, float] = {}
    labelled_units: list[AnnotationUnit] = []
    for measure in judged.measures:
        for answers in measure.models.values():
            open_units: list[AnnotationUnit] = []
            for answer in answers:
                if answer.decision is not None and not answer.repeat and not answer.known:
                    open_units.append(answer.unit)
            labelled = [unit for unit in open_units if unit in right]
            labelled_units += labelled
            for unit in open_units:
                category = judged.categories[unit.id]
                counts[category] = counts.get(category, 0.0) + len(labelled) / len(open_units)
    counts = {name: count for name, count in counts.items() if count}
    if len(counts) < 2:
        return "", None
    names = [judged.categories[unit.id] for unit in labelled_units]
    p_value = same_kinds(names, counts, clusters=[unit.id for unit in labelled_units], seed=seed)
    if p_value >= DRAWN_AT_LEAST:
        return "", p_value
    shares, label_shares = as_shares(counts), as_shares(Counter(names))
    name = max(sorted(counts), key=lambda category: abs(label_shares.get(category, 0.0) - shares[category]))
    return (
        f"the labelled answers are no random draw: {percentage(label_shares.get(name, 0.0))} of them, and "
        f"{percentage(shares[name])} of "
        f"all that no rule decided, are of the category {name or '(none)'}; draw them over all categories: annotate draw "
        "RUN --scale 0-1 --cases N --seed S"
    ), p_value
