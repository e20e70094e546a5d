"""The trials of a fingerprint test: halves of the samples, and anonymous answers drawn from the second half."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter

from dokimasia.algorithms.halving import halves as split
from dokimasia.algorithms.text.anonymising import anonymise
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.diagnosis.fingerprint import FingerprintTask
from dokimasia.domain.identity import canonical_json, unit_interval, value_id
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis import DiagnosisMaterial
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree import MeasuredRun
from dokimasia.runs.figures import grouped
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples, run_samples, samples_by_id

T = TypeVar("T")

LONGEST = 2_000
"""Maximum number of characters of an answer or a question in a trial."""

READ = 10 * LONGEST
"""Characters of an answer to search for names; more than are shown, since removing names shortens the text."""

FEWEST = 2
"""Minimum number of answers of each model in a trial."""


class TrialDraw(NamedTuple):
    """The trials, and the pairs without one, each with the number of displayed samples that both models answered."""

    tasks: list[FingerprintTask]
    untested: list[list[str | int]]


class Halves(NamedTuple):
    """Names of the samples used for reports, and of those whose answers are shown."""

    reports: frozenset[str]
    answers: tuple[str, ...]


def tasks_of(home: Home, run: Run) -> list[tuple[str, FingerprintTask]]:
    """Return the trials of a test with their ids, in order."""
    ids = run.texts("tasks")
    tasks = find_values(home, FingerprintTask, ids)
    return [(id, tasks[id]) for id in ids]


def untested_of(run: Run) -> list[list[str | int]]:
    """Return the pairs of a test without a trial, each with the number of samples that both models answered."""
    return TypeAdapter(list[list[str | int]]).validate_python(run.options["untested"])


def item_of(task: FingerprintTask) -> str:
    """Return the name of a trial's result row; equal trials of two tests have the same name."""
    return f"match/{task.first}/{task.second}/{task.trial}/{value_id(task)}"


def halves(home: Home, run: Run, seed: int) -> Halves:
    """Return a run's samples in two halves, balanced over categories; samples that share an image stay together."""
    clusters = {sample.sample_id: sample.cluster or sample.sample_id for sample in run_samples(home, run.id)}
    categories = {sample.id: sample.category or "" for sample in load_samples(home, run.id)}
    reports, answers = split(clusters, categories, seed=seed)
    return Halves(reports, tuple(sorted(answers)))


def restricted(material: DiagnosisMaterial, samples: frozenset[str]) -> DiagnosisMaterial:
    """Return a diagnosis's data restricted to some samples."""
    measured = material.measured
    sample_of = {criterion: sample for criterion, sample in measured.sample_of.items() if sample in samples}

    def among(by_criterion: Mapping[str, T]) -> dict[str, T]:
        return {criterion: value for criterion, value in by_criterion.items() if criterion in sample_of}

    return replace(
        material,
        measured=MeasuredRun(
            scores={model: among(scores) for model, scores in measured.scores.items()},
            failures={model: among(kinds) for model, kinds in measured.failures.items()},
            sample_of=sample_of,
            cluster_of=among(measured.cluster_of),
        ),
        answers=[answer for answer in material.answers if answer.sample_id in samples],
        coded=None if material.coded is None else material.coded.among(samples),
    )


def draw_tasks(
    home: Home, run: Run, models: Sequence[str], pool: Sequence[str], *, responses: int, trials: int, seed: int
) -> TrialDraw:
    """Return the trials of every pair of models.

    A trial shows both models' first answers to the same samples; the trials of a pair share no sample and are
    independent. Which model is called A, and which report comes first, is random. If both models answered fewer samples
    than a trial shows, there is one trial with all of these, provided there are at least two.

    Args:
        home: the home.
        run: the evaluation.
        models: displayed names of the models.
        pool: samples that were not used for reports.
        responses: number of answers of each model in a trial.
        trials: maximum number of trials of a pair.
        seed: seed of all draws.

    Raises:
        InputError: there are not enough samples for one trial; the message says how many there are.
    """
    answers = _answers(home, run, set(pool))
    samples = samples_by_id(home, run.id)
    names = _names(run, models)
    tasks: list[FingerprintTask] = []
    untested: list[list[str | int]] = []
    for first, second in combinations(models, 2):
        shared = [id for id in pool if id in answers.get(first, {}) and id in answers.get(second, {})]
        order = list(_balanced(shared, samples, f"{seed}/{first}/{second}"))
        size = min(responses, len(order))
        if size < FEWEST:
            untested.append([first, second, len(order)])
            continue
        aliases = tuple(dict.fromkeys((*names.get(first, ()), *names.get(second, ()))))
        other_names = tuple(sorted(set().union(*names.values()) - {*aliases, first, second}))
        for number in range(min(trials, len(order) // size)):
            key = ("trial", seed, first, second, number)
            a = first if unit_interval(*key, "a") < 0.5 else second
            b = second if a == first else first
            ids = sorted(order[number * size : (number + 1) * size])
            lines: list[str] = []
            n_removed = 0
            for question, id in enumerate(ids, start=1):
                anonymous = [
                    anonymise(answers[model][id].text[:READ], (first, second, *aliases), others=other_names)
                    for model in (a, b)
                ]
                criteria = answers[a][id].criteria or answers[b][id].criteria
                lines.append(_line(question, samples[id], criteria, *(text.text[:LONGEST] for text in anonymous)))
                n_removed += sum(text.removed for text in anonymous)
            tasks.append(
                FingerprintTask(
                    first=first,
                    second=second,
                    trial=number + 1,
                    samples=tuple(ids),
                    a=a,
                    one=first if unit_interval(*key, "one") < 0.5 else second,
                    answers="\n".join(lines),
                    removed=n_removed,
                    known=aliases,
                    others=other_names,
                )
            )
    if not tasks:
        raise InputError(_too_few(run, len(pool), answers, untested))
    return TrialDraw(tasks, untested)


def _too_few(
    run: Run, pool: int, answers: Mapping[str, Mapping[str, object]], untested: Sequence[Sequence[str | int]]
) -> str:
    pairs = "; ".join(f"{first} and {second}: {count}" for first, second, count in untested[:5])
    names = {str(name) for first, second, _ in untested for name in (first, second)}
    silent = sorted(name for name in names if not answers.get(name))
    silence_note = f" No answer of {', '.join(silent)} is there." if silent else ""
    return (
        f"run {run.id} has no two models to tell apart: a trial shows at least {FEWEST} samples that both answered, from the "
        f"half that no report is written from ({pool} samples), and there are ({pairs}).{silence_note} Evaluate more samples, or "
        f"send failed calls again with dokimasia resume {run.id} --retry-failed"
    )


class _Answer(NamedTuple):
    text: str
    criteria: CriteriaSet | None


def _line(number: int, sample: Sample, criteria: CriteriaSet | None, a: str, b: str) -> str:
    """Return a sample with the points of its criteria and both answers as a JSON object."""
    points = [] if criteria is None else criteria.criteria
    row = {
        "n": number,
        "category": sample.category or "",
        "question": sample.prompt[:LONGEST],
        "reference": (sample.reference_text or "")[:LONGEST],
        "points": [{"question": point.question, "ground_truth": point.ground_truth} for point in points],
        "A": a,
        "B": b,
    }
    return canonical_json(row).decode()


def _answers(home: Home, run: Run, pool: set[str]) -> dict[str, dict[str, _Answer]]:
    """Return the first answers of models to samples, with the criteria used to score them."""
    rows = [
        row
        for row in results(home, run.id, as_judged=True)
        if row.kind == "score" and not row.arm and row.repeat == 0 and row.response_id and row.sample_id in pool
    ]
    texts = find_values(home, Response, {row.response_id for row in rows if row.response_id})
    sets = find_values(home, CriteriaSet, {row.criteria_id for row in rows if row.criteria_id})
    answers: dict[str, dict[str, _Answer]] = {}
    for row in rows:
        answer = _Answer(texts[row.response_id or ""].text, sets.get(row.criteria_id or ""))
        answers.setdefault(row.model, {})[row.sample_id] = answer
    return answers


def _names(run: Run, models: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return all names (aliases and endpoint names) of the run's models, by displayed name."""
    names: dict[str, tuple[str, ...]] = dict.fromkeys(models, ())
    for spec in EVALUATION.read(run)[0].models.values():
        names[spec.ref.name] = tuple(dict.fromkeys((spec.ref.name, spec.ref.model)))
    return names


def _balanced(ids: Sequence[str], samples: Mapping[str, Sample], key: str) -> Iterator[str]:
    """Yield samples in a random order that alternates between categories."""
    order = sorted(ids, key=lambda id: (unit_interval("draw", key, id), id))
    by_category = grouped(order, lambda id: samples[id].category or "")
    groups = [by_category[name] for name in sorted(by_category)]
    for turn in range(max(map(len, groups), default=0)):
        yield from (group[turn] for group in groups if turn < len(group))
