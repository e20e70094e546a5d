"""What is shown to people: responses, pairs of them, or criteria, of a run or of files; and how some of them are drawn."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson

from dokimasia.datasets import open_dataset, problems_text, read_responses
from dokimasia.domain.annotation import AnnotationUnit, Kind
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
from dokimasia.storage.runs import Run, load_samples
from dokimasia.storage.trees.lookup import criteria_of_samples, criterion_key

T = TypeVar("T")


class Subject(NamedTuple):
    """A thing as it is shown: its sample, the response or the two of a pair, or the criterion and its ground truth.

    `unit` has no measure; `aid` is what the judge was told to go by, where that is shown to people, too.
    """

    unit: AnnotationUnit
    place: SampleOrigin
    sample: Sample
    texts: tuple[str, ...]
    aid: str = ""


Answers = Mapping[tuple[str, str], str]
"""Responses by sample and model."""


def answers_of_run(home: Home, run: Run) -> dict[tuple[str, str], str]:
    """Return the first response of each model to each sample with its image, as far as there is one.

    Raises:
        InputError: the run holds no responses.
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
    found: dict[tuple[str, str], str] = {}
    for one in read_responses(path):
        if one.sample_id not in samples:
            raise DataError(f"{path}: {one.model} answers sample {one.sample_id!r}, which the data do not have")
        if one.repeat == 0:
            found[one.sample_id, one.model] = one.text
    return found


def samples_of_file(path: Path, blobs: BlobStore) -> list[Sample]:
    """Return the samples of a data file, their images put into a store.

    Raises:
        DataError: naming all that is wrong with it.
    """
    read = list(open_dataset(path, blobs=blobs, need_prompt=False))
    problems = [one for one in read if not isinstance(one, Sample)]
    if problems:
        raise DataError(problems_text(problems))
    return [one for one in read if isinstance(one, Sample)]


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
    found: list[Subject] = []
    for sample in samples:
        place = SampleOrigin(group_of(sample), sample.cluster)
        for model in wanted:
            texts = [answers.get((sample.id, name)) for name in (model, *([baseline] if baseline else []))]
            if all(text is not None for text in texts):
                unit = AnnotationUnit(sample.id, "", model, baseline)
                found.append(Subject(unit, place, sample, tuple(text for text in texts if text is not None)))
    if not found:
        raise InputError("no sample has a response of the models that are to be shown")
    return found


def pairs_of_run(home: Home, run: Run, *, models: Sequence[str] = ()) -> list[Subject] | None:
    """Return the pairs that a run of duels compares; None of a run that compares none.

    Raises:
        InputError: a model has no pair.
    """
    pairs = method_named(run.method).pairs
    if pairs is None:
        return None
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    found: list[Subject] = []
    for one in pairs(home, run):
        sample = samples[one.unit.id]
        place = SampleOrigin(group_of(sample), sample.cluster)
        found.append(Subject(one.unit, place, sample, (one.response, one.baseline_response), one.criteria))
    known = {one.unit.model for one in found}
    for name in models:
        if name not in known:
            raise InputError(f"there is no pair of {name!r}; there are those of {', '.join(sorted(known))}")
    return [one for one in found if not models or one.unit.model in models]


def criteria_of(home: Home, run: Run, groups: Mapping[str, str] | None = None) -> list[Subject]:
    """Return the criteria of an evaluation, by sample and number.

    Args:
        home: where it is.
        run: the evaluation.
        groups: by a criterion's key in a tree, the group that stands in place of the sample's category; a criterion that is
            in none is left out.

    Raises:
        InputError: the run has no criteria.
    """
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    found: list[Subject] = []
    for one in criteria_of_samples(home, run.id):
        for number, criterion in enumerate(orjson.loads(one.body)["criteria"], start=1):
            group = one.category if groups is None else groups.get(criterion_key(one.criteria_id, number))
            if group is not None:
                unit = AnnotationUnit(one.sample_id, "", criterion=number)
                texts = (criterion["question"], criterion["ground_truth"])
                found.append(Subject(unit, SampleOrigin(group, one.cluster), samples[one.sample_id], texts))
    if not found:
        raise InputError(f"run {run.id} has no criteria to be rated: they come from dokimasia evaluate --judge NAME")
    return found


def draw_subjects(
    subjects: Sequence[Subject], kind: Kind, *, per: int | None, seed: int, cases: int | None = None
) -> list[Subject]:
    """Return so many cases of each category, drawn by the seed: samples with all their responses, or single criteria.

    With `cases` so many are drawn of all, whatever their category. The order of the subjects is kept; without a number all
    are taken.
    """
    number = per if cases is None else cases
    if number is None:
        return list(subjects)

    def name(one: Subject) -> tuple[str, int]:
        return one.unit.id, one.unit.criterion if kind == "criterion" else 0

    strata = {name(one): one.place.category if cases is None else "" for one in subjects}
    kept = set(draw(strata, per=number, seed=seed, key=name_key))
    return [one for one in subjects if name(one) in kept]


def name_key(name: tuple[str, int]) -> str:
    """Return a case's name as the draw takes it."""
    return f"{name[0]}/{name[1]}"


K = TypeVar("K", bound=Hashable)


def draw(strata: Mapping[K, str], *, per: int, seed: int, key: Callable[[K], str]) -> list[K]:
    """Return so many things of each stratum, or all where it has fewer; what is drawn depends on no other stratum.

    A larger number draws the same things and more.
    """
    by_stratum: dict[str, list[K]] = {}
    for one, stratum in strata.items():
        by_stratum.setdefault(stratum, []).append(one)
    return [
        one
        for stratum, several in sorted(by_stratum.items())
        for one in sorted(several, key=lambda one: (unit_interval("cases", seed, stratum, key(one)), key(one)))[:per]
    ]
