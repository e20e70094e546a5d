"""The trials of a test of fingerprints: samples halved, answers of the other half drawn, shown without names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

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
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples, run_samples

LONGEST = 2_000
"""Characters of an answer, or a question, that are shown."""

READ = 10 * LONGEST
"""Characters of an answer that are read for names; more than are shown, since names are taken out."""

FEWEST = 2
"""Answers of each model that make a trial."""


class TrialDraw(NamedTuple):
    """The trials, and the pairs that have none, each with how many samples both answered in the half that is shown."""

    tasks: list[FingerprintTask]
    untested: list[list[str | int]]


class Halves(NamedTuple):
    """Samples by name: those that reports are written from, and those whose answers are shown."""

    reports: frozenset[str]
    answers: tuple[str, ...]


def tasks_of(home: Home, run: Run) -> list[tuple[str, FingerprintTask]]:
    """Return the trials of a test with their ids, in their order."""
    ids: Any = run.options["tasks"]
    found = find_values(home, FingerprintTask, ids)
    return [(id, found[id]) for id in ids]


def untested_of(run: Run) -> list[list[str | int]]:
    """Return the pairs of a test that have no trial, each with how many samples both answered."""
    untested: Any = run.options["untested"]
    return list(untested)


def item_of(task: FingerprintTask) -> str:
    """Return the name of a trial's result row; trials of two tests that show the same bear one name."""
    return f"match/{task.first}/{task.second}/{task.trial}/{value_id(task)}"


def halves(home: Home, run: Run, seed: int) -> Halves:
    """Return a run's samples in two halves, balanced over categories; samples that share an image stay together."""
    clusters = {place.sample_id: place.cluster or place.sample_id for place in run_samples(home, run.id)}
    categories = {sample.id: sample.category or "" for sample in load_samples(home, run.id)}
    reports, answers = split(clusters, categories, seed=seed)
    return Halves(reports, tuple(sorted(answers)))


def restricted(material: DiagnosisMaterial, samples: frozenset[str]) -> DiagnosisMaterial:
    """Return what of a diagnosis's material rests on some samples alone."""
    measured = material.measured
    kept = {one for one, sample in measured.sample_of.items() if sample in samples}
    return replace(
        material,
        measured=MeasuredRun(
            scores={name: {one: each[one] for one in each if one in kept} for name, each in measured.scores.items()},
            failures={
                name: {one: each[one] for one in each if one in kept} for name, each in measured.failures.items()
            },
            sample_of={one: sample for one, sample in measured.sample_of.items() if one in kept},
            cluster_of={one: cluster for one, cluster in measured.cluster_of.items() if one in kept},
        ),
        answers=[one for one in material.answers if one.sample_id in samples],
        coded=None if material.coded is None else material.coded.among(samples),
    )


def draw_tasks(
    home: Home, run: Run, models: Sequence[str], pool: Sequence[str], *, responses: int, trials: int, seed: int
) -> TrialDraw:
    """Return the trials of every pair of models.

    Both models' first answers to the same samples are shown, as many of each; the trials of a pair share no sample, so
    that each is a test of its own. Which model is called A and which report comes first is drawn. Where both answered
    fewer samples than a trial is to show, there is one trial with those there are, two at least.

    Args:
        home: where the run is.
        run: the evaluation.
        models: as they are shown.
        pool: samples that no report was written from.
        responses: how many answers of each model a trial shows.
        trials: how many trials a pair has at most.
        seed: of all draws.

    Raises:
        InputError: there are not enough samples for one trial, with how many there are.
    """
    answers = _answers(home, run, set(pool))
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    names = _names(run, models)
    tasks: list[FingerprintTask] = []
    untested: list[list[str | int]] = []
    for first, second in combinations(models, 2):
        shared = [one for one in pool if one in answers.get(first, {}) and one in answers.get(second, {})]
        order = list(_balanced(shared, samples, f"{seed}/{first}/{second}"))
        size = min(responses, len(order))
        if size < FEWEST:
            untested.append([first, second, len(order)])
            continue
        known = tuple(dict.fromkeys((*names.get(first, ()), *names.get(second, ()))))
        others = tuple(sorted({one for each in names.values() for one in each} - {*known, first, second}))
        for number in range(min(trials, len(order) // size)):
            key = ("trial", seed, first, second, number)
            a = first if unit_interval(*key, "a") < 0.5 else second
            b = second if a == first else first
            chosen = sorted(order[number * size : (number + 1) * size])
            lines = [
                _line(at, samples[id], answers[a][id], answers[b][id], names=(first, second, *known), others=others)
                for at, id in enumerate(chosen, start=1)
            ]
            tasks.append(
                FingerprintTask(
                    first=first,
                    second=second,
                    trial=number + 1,
                    samples=tuple(chosen),
                    a=a,
                    one=first if unit_interval(*key, "one") < 0.5 else second,
                    answers="\n".join(line for line, _ in lines),
                    removed=sum(count for _, count in lines),
                    known=known,
                    others=others,
                )
            )
    if not tasks:
        raise InputError(_too_few(run, len(pool), answers, untested))
    return TrialDraw(tasks, untested)


def _too_few(
    run: Run, pool: int, answers: Mapping[str, Mapping[str, object]], untested: Sequence[Sequence[str | int]]
) -> str:
    pairs = "; ".join(f"{first} and {second}: {count}" for first, second, count in untested[:5])
    silent = sorted({str(name) for one in untested for name in one[:2] if not answers.get(str(name))})
    told = f" No answer of {', '.join(silent)} is there." if silent else ""
    return (
        f"run {run.id} has no two models to tell apart: a trial shows at least {FEWEST} samples that both answered, from the "
        f"half that no report is written from ({pool} samples), and there are ({pairs}).{told} Evaluate more samples, or "
        f"send failed calls again with dokimasia resume {run.id} --retry-failed"
    )


class _Answer(NamedTuple):
    text: str
    criteria: CriteriaSet | None


def _line(
    number: int, sample: Sample, a: _Answer, b: _Answer, *, names: Sequence[str], others: Sequence[str]
) -> tuple[str, int]:
    """Return a sample with both answers as a JSON object, without names, and how much anonymising took out of them."""
    first, second = (anonymise(one.text[:READ], names, others=others) for one in (a, b))
    criteria = a.criteria or b.criteria
    points = [] if criteria is None else criteria.criteria
    row = {
        "n": number,
        "category": sample.category or "",
        "question": sample.prompt[:LONGEST],
        "reference": (sample.reference_text or "")[:LONGEST],
        "points": [{"question": one.question, "ground_truth": one.ground_truth} for one in points],
        "A": first.text[:LONGEST],
        "B": second.text[:LONGEST],
    }
    return canonical_json(row).decode(), first.removed + second.removed


def _answers(home: Home, run: Run, pool: set[str]) -> dict[str, dict[str, _Answer]]:
    """Return the first answers of models to samples, with the criteria that they were scored by."""
    rows = [
        row
        for row in results(home, run.id, as_judged=True)
        if row.kind == "score" and not row.arm and row.repeat == 0 and row.response_id and row.sample_id in pool
    ]
    texts = find_values(home, Response, {row.response_id for row in rows if row.response_id})
    sets = find_values(home, CriteriaSet, {row.criteria_id for row in rows if row.criteria_id})
    found: dict[str, dict[str, _Answer]] = {}
    for row in rows:
        answer = _Answer(texts[row.response_id or ""].text, sets.get(row.criteria_id or ""))
        found.setdefault(row.model, {})[row.sample_id] = answer
    return found


def _names(run: Run, models: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return by shown name what each of the run's models is called, aliases and the names that they are reached by."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(models, ())
    for spec in EVALUATION.read(run)[0].models.values():
        found[spec.ref.name] = tuple(dict.fromkeys((spec.ref.name, spec.ref.model)))
    return found


def _balanced(ids: Sequence[str], samples: Mapping[str, Sample], key: str) -> Iterator[str]:
    """Yield samples in a drawn order in which categories take turns."""
    by_category: dict[str, list[str]] = {}
    for id in sorted(ids, key=lambda one: (unit_interval("draw", key, one), one)):
        by_category.setdefault(samples[id].category or "", []).append(id)
    groups = [by_category[name] for name in sorted(by_category)]
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))
