"""The figures of a fingerprint test: accuracy by matcher and pair of models, and the rows of an export."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Annotated, NamedTuple

from pydantic import Field, JsonValue, field_serializer

from dokimasia.algorithms.statistics import ConfidenceInterval, adjusted, clopper_pearson, rate_interval
from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.domain.identity import Value
from dokimasia.methods.diagnosis import (
    MODEL,
    PAIR,
    cells_of,
    count_column,
    reports_of,
    runs_on,
    score_column,
    share_column,
    written_from,
)
from dokimasia.methods.fingerprints.request import MATCH, NAME, FingerprintPlan
from dokimasia.methods.fingerprints.trials import tasks_of, untested_of
from dokimasia.methods.tree import LEVEL
from dokimasia.report.fields import Count, Display, Failures, Fraction
from dokimasia.report.figures import p_value as p_value_cell
from dokimasia.report.figures import share
from dokimasia.runs.figure_models import Heading, Judge, Seed
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.measures import mean, mean_bounds, rounded
from dokimasia.runs.reading.exporting import JUDGED, ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

CHANCE = 0.5
"""The accuracy of guessing."""

LIMIT = 0.05
"""The permitted share of false marks among all pairs marked as distinguishable."""

BY_HAND = "match by hand"
"""The kind of the result row of a person's match."""

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "samples": "texts",
    "said": "text",
    "truth": "text",
    "removed": "integer",
    **JUDGED,
}
"""Columns of a judge's trial in an export; a score of 1 means that both reports were matched correctly."""

FEW = 30
"""With fewer responses per model than the paper's 30 to 50, a note is added."""

FEW_TRIALS = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class OpenBounds(Value):
    """Bounds of an accuracy over all trials, for any outcome of the failed ones; null without trials."""

    low: Fraction | None
    high: Fraction | None


class MatchRates(Value):
    """How often the reports on two models were matched to the right ones; guessing reaches one half."""

    trials: Count
    n: Count = Field(description="trials with a verdict")
    right: Count = Field(description="trials that were matched rightly")
    accuracy: Annotated[
        Fraction | None,
        Display(
            "accuracy",
            "share of trials in which both reports were given to the right models; guessing reaches 50 %",
            write=share,
        ),
    ] = Field(description="right of n; null without a verdict")
    low: Fraction | None = Field(description="lower end of its 95 % interval")
    high: Fraction | None = Field(description="upper end of its 95 % interval")
    failures: Failures
    bounds: OpenBounds


class PairMatched(MatchRates):
    """The trials of one pair of models; interval by Clopper and Pearson."""

    first: Annotated[str, Display("first", numeric=False)]
    second: Annotated[str, Display("second", numeric=False)]
    above_half: bool = Field(description="whether more than half of the trials with a verdict were matched rightly")
    p_value: Fraction | None = Field(description="how often guessing does as well or better; one-sided, exact")
    adjusted: Annotated[
        Fraction | None,
        Display("adjusted p", "that guessing does as well; Benjamini and Hochberg over all pairs", write=p_value_cell),
    ] = Field(description="p_value adjusted over all pairs (Benjamini and Hochberg)")
    apart: bool = Field(description="whether adjusted is at most 0.05")


class MatcherFigures(MatchRates):
    """All trials of one matcher; interval clustered by pairs."""

    n_pairs: Count = Field(description="pairs with a trial")
    pairs_apart: Count = Field(description="pairs told apart beyond chance, adjusted over all pairs")
    pairs_above_half: Count = Field(description="pairs that were matched rightly in more than half of their trials")
    pairs: tuple[PairMatched, ...]


class AnswersPerTrial(Value):
    """The fewest and the most answers of each model that a trial shows."""

    low: Count
    high: Count


class Untested(Value):
    """A pair of models without a trial."""

    first: str
    second: str
    samples: Count = Field(description="samples that both answered in the half that is shown")


class Sentences(Value):
    """The sentences of a report."""

    verified: Count
    unverified: Count


class FingerprintFigures(Heading):
    """The figures of a test of fingerprints."""

    source: str = Field(description="the id of the evaluation whose models are told apart")
    judge: Judge
    seed: Seed
    models: tuple[str, ...] = Field(description="in the order of the tables")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    responses: Count = Field(description="answers of each model that a trial was to show")
    shown: AnswersPerTrial = Field(description="answers of each model that trials show")
    tasks: Count = Field(description="trials")
    waiting: Count = Field(description="trials that the judge has not matched")
    untested: tuple[Untested, ...]
    removed: Count = Field(description="pieces that anonymising took out of answers")
    reports: dict[str, Sentences | None] = Field(description="by model; null where there is no report")
    by_judge: MatcherFigures
    by_hand: dict[str, MatcherFigures] = Field(description="by the person who matched")
    assets: tuple[Asset, ...] = Field(description="the tables, ready to be drawn: the judge's, then each person's")

    @field_serializer("assets")
    def _whole_tables(self, assets: tuple[Asset, ...]) -> list[dict[str, JsonValue]]:
        """Return the tables with all fields, including defaults."""
        return [asset.model_dump(mode="json") for asset in assets]


class Trial(NamedTuple):
    """A trial of two models: whether the reports were matched correctly, or the kind of failure."""

    first: str
    second: str
    right: bool | None
    failure: str | None = None


def fingerprint_figures(home: Home, run: Run) -> FingerprintFigures:
    """Return the figures of a test of fingerprints; the same stored rows give the same bytes."""
    plan, diagnosis = run.plan_as(FingerprintPlan), written_from(home, run)
    models = diagnosis.models
    tasks = [task for _, task in tasks_of(home, run)]
    rows = results(home, run.id)
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows if row.kind == BY_HAND])
    by_person: dict[str, list[Trial]] = {}
    for row in rows:
        if row.kind == BY_HAND:
            by_person.setdefault(matches[row.value_ids[1]].by, []).append(_trial(row))
    judge_trials = [_trial(row) for row in rows if row.kind == MATCH]
    by_judge = matcher_figures(judge_trials, models)
    by_hand = {name: matcher_figures(trials, models) for name, trials in sorted(by_person.items())}
    judge = plan.judge.ref.name
    assets = fingerprint_tables(by_judge, models, matcher=judge) if judge_trials else []
    for name, figures in by_hand.items():
        assets += fingerprint_tables(figures, models, matcher=name, id=_UNSAFE.sub("-", name))
    reports: dict[str, Sentences | None] = dict.fromkeys(models)
    for name, report in reports_of(home, run.id).items():
        if name in reports:
            reports[name] = Sentences(verified=len(report.verified), unverified=len(report.unverified))
    untested = [
        Untested.model_validate(dict(zip(Untested.model_fields, pair, strict=True))) for pair in untested_of(run)
    ]
    sizes = [len(task.samples) for task in tasks]
    return FingerprintFigures(
        run=run.id,
        source=plan.source,
        status=run.status,
        judge=judge,
        simulated=tuple(sorted({*diagnosis.simulated, *simulated_names((plan.judge,))})),
        seed=plan.seed,
        models=models,
        notes=(*diagnosis.notes, *_notes(plan, len(models), tasks, untested)),
        responses=plan.responses,
        shown=AnswersPerTrial(low=min(sizes), high=max(sizes)),
        tasks=len(tasks),
        waiting=len(tasks) - len(judge_trials),
        untested=tuple(untested),
        removed=sum(task.removed for task in tasks),
        reports=reports,
        by_judge=by_judge,
        by_hand=by_hand,
        assets=tuple(assets),
    )


def matcher_figures(trials: Sequence[Trial], models: Sequence[str]) -> MatcherFigures:
    """Return a matcher's accuracy for each pair of models, in order, and overall."""
    by_pair: dict[tuple[str, str], list[Trial]] = {}
    for names in combinations(models, 2):
        pair_trials = [trial for trial in trials if {trial.first, trial.second} == set(names)]
        if pair_trials:
            by_pair[names] = pair_trials
    p_values: list[float | None] = []
    for pair_trials in by_pair.values():
        hits = _hits(pair_trials)
        p_values.append(rounded(guessing_p_value(sum(hits), len(hits))) if hits else None)
    pairs: list[PairMatched] = []
    for (names, pair_trials), p_value, q_value in zip(by_pair.items(), p_values, adjusted(p_values), strict=True):
        hits = _hits(pair_trials)
        interval = clopper_pearson(sum(hits), len(hits), LEVEL) if hits else None
        pairs.append(
            PairMatched(
                first=names[0],
                second=names[1],
                **dict(_match_rates(pair_trials, interval)),
                above_half=bool(hits) and sum(hits) / len(hits) > CHANCE,
                p_value=p_value,
                adjusted=rounded(q_value),
                apart=q_value is not None and q_value <= LIMIT,
            )
        )
    hits = _hits(trials)
    clusters = [tuple(sorted((trial.first, trial.second))) for trial in trials if trial.right is not None]
    interval = rate_interval(hits, clusters=clusters, level=LEVEL) if hits else None
    return MatcherFigures(
        **dict(_match_rates(trials, interval)),
        n_pairs=len(pairs),
        pairs_apart=sum(pair.apart for pair in pairs),
        pairs_above_half=sum(pair.above_half for pair in pairs),
        pairs=tuple(pairs),
    )


def _hits(trials: Sequence[Trial]) -> list[bool]:
    """Return the verdicts of the trials that have a verdict."""
    return [trial.right for trial in trials if trial.right is not None]


def _match_rates(trials: Sequence[Trial], interval: ConfidenceInterval | None) -> MatchRates:
    """Return the number and share of right trials, with interval and bounds."""
    hits = _hits(trials)
    right, n_failed = sum(hits), len(trials) - len(hits)
    failures = Counter(trial.failure for trial in trials if trial.failure is not None)
    bounds = mean_bounds(right, right + n_failed, len(trials))
    return MatchRates.model_validate(
        {
            "trials": len(trials),
            "n": len(hits),
            "right": right,
            "accuracy": mean(hits),
            "low": rounded(interval.low) if interval else None,
            "high": rounded(interval.high) if interval else None,
            "failures": dict(sorted(failures.items())),
            "bounds": {"low": None, "high": None} if bounds is None else dict(bounds),
        }
    )


def guessing_p_value(right: int, n: int) -> float:
    """Return the probability of guessing at least that many of n trials: the one-sided exact binomial p-value.

    >>> guessing_p_value(8, 9), guessing_p_value(0, 9)
    (0.01953125, 1.0)
    """
    return sum(comb(n, k) for k in range(right, n + 1)) / 2**n


def fingerprint_tables(figures: MatcherFigures, models: Sequence[str], *, matcher: str, id: str = "") -> list[Asset]:
    """Return a matcher's figures as tables: one with a row per pair, and one of models by models for a heat map.

    Args:
        figures: the matcher's figures.
        models: the models in the order of the tables.
        matcher: name of the judge or the person.
        id: part of the tables' ids; empty for the judge.
    """
    pairs = Asset(
        id=f"fingerprints/{id}" if id else "fingerprints",
        title=f"Fingerprints, matched by {matcher}: how reliably two models are told apart",
        sentence=(
            f"{figures.pairs_apart} of {figures.n_pairs} pairs are told apart beyond chance, adjusted over all pairs; "
            f"{figures.pairs_above_half} were matched rightly in more than half of their trials, where guessing reaches "
            "one half. Each trial shows answers to other questions than the reports were written from."
        ),
        columns=(
            *PAIR,
            share_column("accuracy", better="higher"),
            AssetColumn(name="adjusted p", kind="p_value"),
            count_column("trials"),
        ),
        rows=tuple(
            AssetRow(
                key=f"{pair.first} {pair.second}",
                cells=cells_of(
                    pair.first,
                    pair.second,
                    Figure(value=pair.accuracy, low=pair.low, high=pair.high),
                    pair.adjusted,
                    pair.trials,
                ),
                n=pair.n,
                held=pair.trials,
            )
            for pair in figures.pairs
        ),
        counts="samples",
    )
    by_models = {frozenset((pair.first, pair.second)): pair for pair in figures.pairs}
    grid_rows: list[AssetRow] = []
    for model in models:
        row_pairs = [by_models.get(frozenset((model, rival))) for rival in models]
        grid_rows.append(
            AssetRow(
                key=model,
                cells=cells_of(model, *map(_percent, row_pairs)),
                n=sum(pair.n for pair in row_pairs if pair is not None),
                held=sum(pair.trials for pair in row_pairs if pair is not None),
                model=model,
            )
        )
    grid = Asset(
        id=f"heatmap/fingerprints-{id}" if id else "heatmap/fingerprints",
        title=f"Heat map of fingerprints, matched by {matcher}",
        sentence="Trials of 100 in which both reports were given to the right models; guessing reaches 50.",
        columns=(
            MODEL,
            *(score_column(model[:300], "of 100") for model in models),
        ),
        rows=tuple(grid_rows),
        counts="samples",
    )
    return [pairs, grid]


def _percent(pair: PairMatched | None) -> Figure:
    if pair is None or pair.accuracy is None or pair.low is None or pair.high is None:
        return Figure()
    return Figure(value=round(100 * pair.accuracy, 6), low=round(100 * pair.low, 6), high=round(100 * pair.high, 6))


def latest_fingerprints(home: Home, source: str) -> Run | None:
    """Return an evaluation's newest fingerprint test with a match; None without one."""
    for run in runs_on(home, source, NAME):
        if any(row.kind in (MATCH, BY_HAND) for row in results(home, run.id)):
            return run
    return None


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, JsonValue]]:
    """Return the values of the export's columns for each trial; null for missing values of a failed trial."""
    judge, tasks = run.plan_as(FingerprintPlan).judge_name, dict(tasks_of(home, run))
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows if row.outcome == "scored"])
    exported: list[dict[str, JsonValue]] = []
    for row in rows:
        id = row.value_ids[0]
        task = tasks[id]
        columns: dict[str, JsonValue] = dict.fromkeys(COLUMNS)
        columns |= {"task": id, "samples": list(task.samples), "truth": task.truth, "removed": task.removed}
        columns["judge"] = judge
        if row.outcome == "scored":
            match = matches[row.value_ids[1]]
            columns["said"] = match.said
            if match.provenance:
                columns |= match.provenance.model_dump(include=set(COLUMNS))
        exported.append(columns)
    return exported


def _trial(row: ResultRow) -> Trial:
    return Trial(row.model, row.arm, None if row.score is None else row.score > 0, row.failure)


def _notes(
    plan: FingerprintPlan, models: int, tasks: Sequence[FingerprintTask], untested: Sequence[Untested]
) -> list[str]:
    notes: list[str] = []
    if plan.responses < FEW:
        notes.append(f"{plan.responses} answers of each model are fewer than the paper's 30 to 50.")
    short = [len(task.samples) for task in tasks if len(task.samples) < plan.responses]
    if short:
        low, high = min(short), max(short)
        counts = f"{low}" if low == high else f"{low} to {high}"
        notes.append(
            f"{len(short)} trials show {counts} answers of each model and not "
            f"{plan.responses}: the run has no more that both models gave and no report was written from."
        )
    for pair in untested:
        notes.append(
            f"{pair.first} and {pair.second} have no trial: there are {pair.samples} samples that both answered in "
            "the half that is shown."
        )
    pairs = models * (models - 1) // 2
    if len(tasks) < FEW_TRIALS * pairs:
        notes.append(
            f"{len(tasks)} trials for {pairs} pairs: the run has too few samples for more that share none, so the intervals "
            "are wide. Fewer answers a trial (--responses) make more trials, and harder ones."
        )
    return notes
