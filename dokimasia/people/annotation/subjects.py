"""Subjects of annotation: responses, pairs or criteria, of runs or files; and the drawing of cases."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson

from dokimasia.datasets import open_dataset, problems_text, read_responses
from dokimasia.domain.annotation import MOST_RANKED, SCORE, AnnotationUnit, FormKind
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, InputError
from dokimasia.people.annotation.rated import SampleOrigin, group_of
from dokimasia.runs.catalogue import method_named
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, samples_by_id
from dokimasia.storage.trees.lookup import criteria_of_samples, criterion_key

T = TypeVar("T")


class Subject(NamedTuple):
    """A unit as shown: its sample, and the response, the two responses of a pair, or the criterion with its ground truth.

    `unit` has no measure; `aid` is the judge's criteria, if people see them, too. `verdict` is what the judge decided of a
    response that people label right or wrong, which they do not see; empty where labels are not for a correction. Of a ranking
    `texts` are the responses of all `models`.
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
    """Return the first response of each model to each sample with its image, if there is one.

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
        DataError: a line cannot be used, or names a sample that the data do not have.
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
    """Return the samples of a data file, storing their images.

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
    """Return the responses of models, or with a baseline each of them beside the baseline's, in the order of the samples.

    Raises:
        InputError: a model has no response at all, or there is nothing to show.
    """
    known = sorted({model for _, model in answers})
    for name in (*models, *([baseline] if baseline else [])):
        if name not in known:
            raise InputError(f"there is no response of {name!r}; there are those of {', '.join(known)}")
    wanted = [name for name in (models or known) if name != baseline]
    subjects: list[Subject] = []
    for sample in samples:
        place = SampleOrigin(group_of(sample), sample.cluster)
        for model in wanted:
            texts = [answers.get((sample.id, name)) for name in (model, *([baseline] if baseline else []))]
            if all(text is not None for text in texts):
                unit = AnnotationUnit(sample.id, "", model, baseline)
                subjects.append(Subject(unit, place, sample, tuple(text for text in texts if text is not None)))
    if not subjects:
        raise InputError("no sample has a response of the models that are to be shown")
    return subjects


def rankings_of(samples: Iterable[Sample], answers: Answers, *, models: Sequence[str] = ()) -> list[Subject]:
    """Return for each sample the responses of all models, to be ranked (ATOM, figure 18); samples that lack one are left out.

    Raises:
        InputError: there are fewer than two models or too many, one has no response, or no sample has all responses.
    """
    known = sorted({model for _, model in answers})
    ranked = tuple(models or known)
    for name in ranked:
        if name not in known:
            raise InputError(f"there is no response of {name!r}; there are those of {', '.join(known)}")
    if not 2 <= len(ranked) <= MOST_RANKED:
        raise InputError(
            f"--ranking ranks the responses of 2 to {MOST_RANKED} models, and there are {len(ranked)}: name them with --models"
        )
    subjects: list[Subject] = []
    for sample in samples:
        texts = [answers.get((sample.id, name)) for name in ranked]
        complete = tuple(text for text in texts if text is not None)
        if len(complete) == len(ranked):
            place = SampleOrigin(group_of(sample), sample.cluster)
            subjects.append(Subject(AnnotationUnit(sample.id, ""), place, sample, complete, models=ranked))
    if not subjects:
        raise InputError(f"no sample has a response of each of {', '.join(ranked)}")
    return subjects


def pairs_of_run(home: Home, run: Run, *, models: Sequence[str] = ()) -> list[Subject] | None:
    """Return the pairs of a run of duels; None for other runs.

    Raises:
        InputError: a model has no pair.
    """
    pairs = method_named(run.method).pairs
    if pairs is None:
        return None
    samples = samples_by_id(home, run.id)
    subjects: list[Subject] = []
    for one in pairs(home, run):
        sample = samples[one.unit.id]
        place = SampleOrigin(group_of(sample), sample.cluster)
        subjects.append(Subject(one.unit, place, sample, (one.response, one.baseline_response), one.criteria))
    known = {one.unit.model for one in subjects}
    for name in models:
        if name not in known:
            raise InputError(f"there is no pair of {name!r}; there are those of {', '.join(sorted(known))}")
    return [one for one in subjects if not models or one.unit.model in models]


def open_answers(home: Home, run: Run, subjects: Sequence[Subject]) -> list[Subject]:
    """Return the responses that no rule decided, with the judge's verdict: those of which labels tell something.

    All are returned where the run decides nothing of answers with yes or no.

    Raises:
        InputError: rules decided all of them.
    """
    decisions = method_named(run.method).decisions
    if decisions is None:
        return list(subjects)
    answers = [
        answer
        for measure in decisions(home, run).measures
        for several in measure.models.values()
        for answer in several
        if answer.unit.measure == SCORE and answer.decision is not None and not answer.repeat
    ]
    if not answers:
        return list(subjects)
    verdicts = {answer.unit.thing: answer.correctness for answer in answers if not answer.known}
    kept = [subject._replace(verdict=verdicts[subject.unit]) for subject in subjects if subject.unit in verdicts]
    if not kept:
        raise InputError(
            f"rules decided every answer of run {run.id}: no label of people would change a rate (dokimasia correct)"
        )
    return kept


def criteria_of(home: Home, run: Run, groups: Mapping[str, str] | None = None) -> list[Subject]:
    """Return the criteria of an evaluation, by sample and number.

    Args:
        home: the home of the run.
        run: the evaluation.
        groups: the group of each criterion, by its key in a tree, to use instead of the sample's category; criteria without
            a group are left out.

    Raises:
        InputError: the run has no criteria.
    """
    samples = samples_by_id(home, run.id)
    subjects: list[Subject] = []
    for criteria_row in criteria_of_samples(home, run.id):
        for number, criterion in enumerate(orjson.loads(criteria_row.body)["criteria"], start=1):
            group = (
                criteria_row.category if groups is None else groups.get(criterion_key(criteria_row.criteria_id, number))
            )
            if group is not None:
                unit = AnnotationUnit(criteria_row.sample_id, "", criterion=number)
                texts = (criterion["question"], criterion["ground_truth"])
                subjects.append(
                    Subject(unit, SampleOrigin(group, criteria_row.cluster), samples[criteria_row.sample_id], texts)
                )
    if not subjects:
        raise InputError(f"run {run.id} has no criteria to be rated: they come from dokimasia evaluate --judge NAME")
    return subjects


def draw_subjects(
    subjects: Sequence[Subject], kind: FormKind, *, per: int | None, seed: int, cases: int | None = None
) -> list[Subject]:
    """Return the subjects of `per` cases of each category, drawn by the seed; a case is a sample, or a single criterion.

    With `cases`, that many are drawn from all, whatever their category; of responses with a verdict that many of each model.
    The order of the subjects is kept; without a number all are returned.
    """
    number = per if cases is None else cases
    if number is None:
        return list(subjects)

    if cases is not None and any(subject.verdict for subject in subjects):
        return _spread(subjects, cases, seed=seed)

    def name(one: Subject) -> tuple[str, int]:
        return one.unit.id, one.unit.criterion if kind == "criterion" else 0

    strata = {name(one): one.place.category if cases is None else "" for one in subjects}
    kept = set(draw(strata, per=number, seed=seed, key=name_key))
    return [one for one in subjects if name(one) in kept]


def _spread(subjects: Sequence[Subject], number: int, *, seed: int) -> list[Subject]:
    """Return `number` responses of each model, spread over its verdicts as all of its responses are.

    Within a verdict responses are drawn by their samples, the same for every model as far as they are there: two models are
    compared best on the same samples. A larger number draws the same responses and more.
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


def name_key(name: tuple[str, int]) -> str:
    """Return the key of a case for the draw."""
    return f"{name[0]}/{name[1]}"


K = TypeVar("K", bound=Hashable)


def draw(strata: Mapping[K, str], *, per: int, seed: int, key: Callable[[K], str]) -> list[K]:
    """Return `per` things of each stratum, or all if it has fewer; each stratum is drawn independently.

    A larger `per` draws the same things and more.
    """
    by_stratum: dict[str, list[K]] = {}
    for thing, stratum in strata.items():
        by_stratum.setdefault(stratum, []).append(thing)
    return [
        thing
        for stratum, several in sorted(by_stratum.items())
        for thing in sorted(several, key=lambda thing: (unit_interval("cases", seed, stratum, key(thing)), key(thing)))[
            :per
        ]
    ]
