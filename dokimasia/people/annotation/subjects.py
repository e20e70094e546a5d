"""Subjects of annotation: responses, pairs or criteria from runs or files; and the drawing of cases."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets import open_dataset, problems_text, read_responses
from dokimasia.domain.annotation import MOST_RANKED, SCORE, AnnotationUnit, FormKind
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, InputError
from dokimasia.people.annotation.rated import SampleOrigin, origin_of
from dokimasia.runs.catalogue import method_named
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, samples_by_id
from dokimasia.storage.trees.lookup import criteria_of_samples, criterion_key


class Subject(NamedTuple):
    """A displayed unit: its sample, and the response, both responses of a pair, or the criterion with its ground truth.

    `unit` has no measure; `aid` is the judge's criteria, if people see them, too. `verdict` is the judge's decision on
    a response that people label right or wrong; people do not see it, and it is empty if the labels are not for a
    correction. For a ranking, `texts` are the responses of all `models`.
    """

    unit: AnnotationUnit
    place: SampleOrigin
    sample: Sample
    texts: tuple[str, ...]
    aid: str = ""
    verdict: str = ""
    models: tuple[str, ...] = ()


Answers = Mapping[tuple[str, str], str]
"""Responses by sample and model."""


def answers_of_run(home: Home, run: Run) -> dict[tuple[str, str], str]:
    """Return the first response of each model to each sample with its image, if it exists.

    Raises:
        InputError: the run has no responses.
    """
    kind = method_named(run.method).row_kind
    rows = [
        row
        for row in results(home, run.id, as_judged=True)
        if row.response_id and row.kind == kind and not row.arm and not row.repeat
    ]
    if not rows:
        raise InputError(f"run {run.id} holds no responses of models to be shown to people")
    texts = find_values(home, Response, [str(row.response_id) for row in rows])
    return {(row.sample_id, row.model): texts[str(row.response_id)].text for row in rows}


def answers_of_file(path: Path, samples: Collection[str]) -> dict[tuple[str, str], str]:
    """Return the first response of each model to each sample of a file of responses.

    Raises:
        DataError: a line is unusable, or names a sample that is not in the data.
    """
    answers: dict[tuple[str, str], str] = {}
    for response in read_responses(path):
        if response.sample_id not in samples:
            raise DataError(
                f"{path}: {response.model} answers sample {response.sample_id!r}, which the data do not have"
            )
        if response.repeat == 0:
            answers[response.sample_id, response.model] = response.text
    return answers


def samples_of_file(path: Path, blobs: BlobStore) -> list[Sample]:
    """Return the samples of a data file, and store their images.

    Raises:
        DataError: the file has problems, which are named.
    """
    samples = list(open_dataset(path, blobs=blobs, need_prompt=False))
    problems = [sample for sample in samples if not isinstance(sample, Sample)]
    if problems:
        raise DataError(problems_text(problems))
    return [sample for sample in samples if isinstance(sample, Sample)]


def responses_of(
    samples: Iterable[Sample], answers: Answers, *, models: Sequence[str] = (), baseline: str = ""
) -> list[Subject]:
    """Return the responses of models, or with a baseline the pairs of each with the baseline's, in sample order.

    Raises:
        InputError: a model has no response at all, or there is nothing to show.
    """
    opponents = (baseline,) if baseline else ()
    known = {model for _, model in answers}
    _check_models([*models, *opponents], known, "response")
    subjects: list[Subject] = []
    for sample in samples:
        for model in models or sorted(known):
            if model != baseline and (texts := _texts(sample, answers, (model, *opponents))):
                subjects.append(
                    Subject(AnnotationUnit(sample.id, "", model, baseline), origin_of(sample), sample, texts)
                )
    if not subjects:
        raise InputError("no sample has a response of the models that are to be shown")
    return subjects


def _check_models(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise an InputError for the first model without any response or pair."""
    for name in names:
        if name not in known:
            raise InputError(f"there is no {what} of {name!r}; there are those of {', '.join(sorted(known))}")


def _texts(sample: Sample, answers: Answers, models: Sequence[str]) -> tuple[str, ...]:
    """Return the responses of models to a sample; empty if one is missing."""
    keys = [(sample.id, model) for model in models]
    if all(key in answers for key in keys):
        return tuple(answers[key] for key in keys)
    return ()


def rankings_of(samples: Iterable[Sample], answers: Answers, *, models: Sequence[str] = ()) -> list[Subject]:
    """Return, for each sample, the responses of all models to rank (ATOM, figure 18); incomplete samples are left out.

    Raises:
        InputError: there are fewer than two models or too many, one has no response, or no sample has all responses.
    """
    known = {model for _, model in answers}
    ranked = tuple(models or sorted(known))
    _check_models(ranked, known, "response")
    if not 2 <= len(ranked) <= MOST_RANKED:
        raise InputError(
            f"--ranking ranks the responses of 2 to {MOST_RANKED} models, and there are {len(ranked)}: name them with --models"
        )
    subjects: list[Subject] = []
    for sample in samples:
        if texts := _texts(sample, answers, ranked):
            subjects.append(Subject(AnnotationUnit(sample.id, ""), origin_of(sample), sample, texts, models=ranked))
    if not subjects:
        raise InputError(f"no sample has a response of each of {', '.join(ranked)}")
    return subjects


def pairs_of_run(home: Home, run: Run, *, models: Sequence[str] = ()) -> list[Subject] | None:
    """Return the pairs of a run of duels; None for other runs.

    Raises:
        InputError: a model has no pair.
    """
    pairs = method_named(run.method).people.pairs
    if pairs is None:
        return None
    samples = samples_by_id(home, run.id)
    subjects: list[Subject] = []
    for pair in pairs(home, run):
        sample, texts = samples[pair.unit.id], (pair.response, pair.baseline_response)
        subjects.append(Subject(pair.unit, origin_of(sample), sample, texts, pair.criteria))
    _check_models(models, {subject.unit.model for subject in subjects}, "pair")
    return [subject for subject in subjects if not models or subject.unit.model in models]


def open_answers(home: Home, run: Run, subjects: Sequence[Subject]) -> list[Subject]:
    """Return the responses that no rule decided, with the judge's verdict; only their labels are informative.

    All responses are returned if the run makes no yes-or-no decisions on answers.

    Raises:
        InputError: rules decided all of them.
    """
    decisions = method_named(run.method).people.decisions
    if decisions is None:
        return list(subjects)
    verdicts: dict[AnnotationUnit, str] = {}
    decided = False
    for measure in decisions(home, run).measures:
        for answers in measure.models.values():
            for answer in answers:
                if answer.unit.measure != SCORE or answer.decision is None or answer.repeat:
                    continue
                decided = True
                if not answer.known:
                    verdicts[answer.unit.thing] = answer.correctness
    if not decided:
        return list(subjects)
    open_subjects = [
        subject._replace(verdict=verdicts[subject.unit]) for subject in subjects if subject.unit in verdicts
    ]
    if not open_subjects:
        raise InputError(
            f"rules decided every answer of run {run.id}: no label of people would change a rate (dokimasia correct)"
        )
    return open_subjects


def criteria_of(home: Home, run: Run, groups: Mapping[str, str] | None = None) -> list[Subject]:
    """Return the criteria of an evaluation, by sample and number.

    Args:
        home: the home of the run.
        run: the evaluation.
        groups: the group of each criterion, by its key in a tree, used instead of the sample's category; criteria
            without a group are left out.

    Raises:
        InputError: the run has no criteria.
    """
    samples = samples_by_id(home, run.id)
    subjects: list[Subject] = []
    for criteria_row in criteria_of_samples(home, run.id):
        sample = samples[criteria_row.sample_id]
        criteria = CriteriaSet.model_validate_json(criteria_row.body).criteria
        for number, criterion in enumerate(criteria, start=1):
            group: str | None = criteria_row.category
            if groups is not None:
                group = groups.get(criterion_key(criteria_row.criteria_id, number))
            if group is not None:
                unit = AnnotationUnit(criteria_row.sample_id, "", criterion=number)
                texts = (criterion.question, criterion.ground_truth)
                subjects.append(Subject(unit, SampleOrigin(group, criteria_row.cluster), sample, texts))
    if not subjects:
        raise InputError(f"run {run.id} has no criteria to be rated: they come from dokimasia evaluate --judge NAME")
    return subjects


def draw_subjects(
    subjects: Sequence[Subject], kind: FormKind, *, per: int | None, seed: int, cases: int | None = None
) -> list[Subject]:
    """Return the subjects of `per` cases of each category, drawn by the seed; a case is a sample or a single criterion.

    With `cases`, that many are drawn from all categories together or, for responses with a verdict, that many of each
    model. The order of the subjects is kept; without a number, all are returned.
    """
    number = per if cases is None else cases
    if number is None:
        return list(subjects)

    if cases is not None and any(subject.verdict for subject in subjects):
        return _spread(subjects, cases, seed=seed)

    def name(subject: Subject) -> str:
        return f"{subject.unit.id}/{subject.unit.criterion if kind == 'criterion' else 0}"

    strata = {name(subject): subject.place.category if cases is None else "" for subject in subjects}
    drawn_names = set(draw(strata, per=number, seed=seed))
    return [subject for subject in subjects if name(subject) in drawn_names]


def _spread(subjects: Sequence[Subject], number: int, *, seed: int) -> list[Subject]:
    """Return `number` responses of each model, distributed over its verdicts like all of its responses.

    Within a verdict, responses are drawn by their samples, the same ones for every model where possible, since two
    models are best compared on the same samples. A larger number draws the same responses and more.
    """
    strata: dict[tuple[str, str], list[Subject]] = {}
    for subject in subjects:
        strata.setdefault((subject.unit.model, subject.verdict), []).append(subject)
    places: dict[AnnotationUnit, tuple[float, str]] = {}
    for (_, verdict), several in strata.items():
        ordered = sorted(several, key=lambda subject: (unit_interval("cases", seed, subject.unit.id), subject.unit.id))
        for rank, subject in enumerate(ordered):
            places[subject.unit] = ((rank + 0.5) / len(ordered), verdict)
    drawn: set[AnnotationUnit] = set()
    for model in {model for model, _ in strata}:
        of_model = sorted(
            (subject.unit for subject in subjects if subject.unit.model == model), key=lambda unit: (places[unit], unit)
        )
        drawn |= set(of_model[:number])
    return [subject for subject in subjects if subject.unit in drawn]


def draw(strata: Mapping[str, str], *, per: int, seed: int) -> list[str]:
    """Return `per` names from each stratum, or all if it has fewer; each stratum is drawn independently.

    A larger `per` draws the same names and more.
    """
    by_stratum: dict[str, list[str]] = {}
    for thing, stratum in strata.items():
        by_stratum.setdefault(stratum, []).append(thing)
    drawn: list[str] = []
    for stratum, things in sorted(by_stratum.items()):
        places = {thing: (unit_interval("cases", seed, stratum, thing), thing) for thing in things}
        drawn += sorted(things, key=places.__getitem__)[:per]
    return drawn
