"""The figures of an error analysis: frequency and reliability of each mode, and the rows of an export."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from dokimasia.algorithms.modes import kappa_of
from dokimasia.algorithms.statistics import adjusted, bootstrap_interval
from dokimasia.algorithms.statistics.within_clusters import draws_for, exchange_p_values, gaps_to_others
from dokimasia.domain.failure_modes import Batch, ModeKind, NoteBook
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.modes.coded import BOOK, SECOND, Coded, CodedAtom, chosen, coded_of, item_of
from dokimasia.methods.modes.request import NAME
from dokimasia.parsing.phrases import MISQUOTED
from dokimasia.report import figures
from dokimasia.report.fields import (
    Count,
    Coverage,
    Display,
    Failures,
    IntervalMethod,
    LeftOpen,
    NoInterval,
    Share,
    Used,
)
from dokimasia.runs.figure_models import Heading, Judge, OpenItems, Seed
from dokimasia.runs.figures import calls_and_costs, grouped, simulated_names
from dokimasia.runs.measures import failure_fields, failures_by_kind, limits, rounded, share_of_hits
from dokimasia.runs.plans import model_identity
from dokimasia.runs.reading.exporting import JUDGED, ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, get_result, results
from dokimasia.storage.runs import Run, get_run

NO_MODE = "none of these"
"""Name for atoms without a mode."""

LIMIT = 0.05
"""The permitted share of false marks among all marks of an analysis."""

FEWEST = 5
"""Minimum number of samples for a comparison of a model with others."""


class Making(Value):
    """How modes were made from the failed atoms of one half of the samples."""

    answers: Count = Field(description="answers that were read")
    atoms: Count = Field(description="failed criteria that these have")
    notes: Count = Field(description="criteria of which something was noted")
    omissions: Count = Field(description="of these notes, those of an omission")
    nothing: Count = Field(description="failed criteria of which the reader found nothing wrong")
    loose: Count = Field(description="notes that stand under no mode")
    batches: tuple[Batch, ...] = Field(description="each batch of notes, and how many new modes it brought")
    settled: bool = Field(description="whether the last two batches brought no new mode")
    notes_to_last: Count = Field(description="notes that had been sorted when the last new mode came")
    merged: Count = Field(description="modes that were merged into others")
    unmerged: str | None = Field(description="why overlapping modes were not looked for; null where they were")
    failures: Failures = Field(description="criteria that were not read, by kind of failure")
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])
    unsorted: Failures = Field(description="batches of notes whose sorting failed, by kind of failure")


class CriterionGroup(Value):
    """Counts of failed atoms, or of met atoms, in the half on which modes are counted."""

    there: Count = Field(description="criteria that the half has")
    n: Count = Field(description="of these, criteria that were drawn to be coded")
    n_scored: Count = Field(description="of these, criteria that were coded")
    coverage: Coverage


class Example(Value):
    """A failed atom in which a mode was seen."""

    model: str
    sample: str
    repeat: Count
    criterion: int = Field(ge=1, description="the criterion's number")
    question: str
    ground_truth: str
    quote: str = Field(description="the answer's own words; empty for an omission")


class ModeRate(Value):
    """The frequency of a mode."""

    failed: Annotated[
        Share,
        Display("failed criteria", "in which it is seen, with the 95 % interval of the share, clustered by image"),
    ] = Field(description="of failed criteria")
    met: Annotated[Share, Display("criteria that were met", "in which it is seen all the same")] = Field(
        description="of criteria that were met"
    )
    right: Annotated[
        Share, Display("right answers", "whose final answer is right, in which it is seen at least once")
    ] = Field(description="of answers whose final answer is right: seen at least once")
    wrong: Annotated[
        Share, Display("wrong answers", "whose final answer is wrong, in which it is seen at least once")
    ] = Field(description="of answers whose final answer is wrong: seen at least once")
    models: dict[str, Share] = Field(description="of each model's failed criteria")
    leaves: dict[str, Share] = Field(
        description="of the failed criteria at a leaf of the capability tree where it is seen"
    )


class ModeFigures(ModeRate):
    """A mode and its frequency."""

    name: str
    kind: ModeKind
    definition: str
    notes: Count = Field(description="notes that it was made from; 0 where a person wrote it")
    examples: tuple[Example, ...] = Field(description="at most two of each model")


class ContrastFigures(Value):
    """The difference between a model's failures and the other models', on samples where both failed."""

    model: str
    mode: str
    n: Count = Field(description="samples on which the model and another failed")
    difference: float | None = Field(description="share of failed criteria under the mode, less the mean of the others")
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    p_value: float | None = Field(description="exchange of models within images; null below five samples")
    adjusted: Annotated[
        float | None,
        Display(
            "adjusted p",
            "exchange of models within images; Benjamini and Hochberg over all models and modes",
            write=figures.p_value,
        ),
    ] = Field(description="p-value after Benjamini and Hochberg over all models and modes")
    verdict: Literal["", "more often", "less often", "unclear"]


class CoderAgreement(Value):
    """The agreement of two coders."""

    n: Count = Field(description="criteria that both coded")
    held: Count = Field(description="criteria that both were given")
    agreed: Count = Field(description="criteria that both put in the same place")
    kappa: float | None = Field(description="Cohen's kappa; null where it has no value")
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class Groups(Value):
    """Both groups of atoms."""

    failed: CriterionGroup
    met: CriterionGroup


class ModesFigures(Heading, Used):
    """The figures of an error analysis."""

    source: str = Field(description="the id of the evaluation whose failures are analysed")
    seed: Seed
    judge: Judge
    coder: str = Field(description="who coded a part of the criteria again")
    same_coder: bool = Field(description="whether that is the judge himself, under another draw")
    models: tuple[str, ...] = Field(description="whose answers were read")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    given: bool = Field(description="whether the modes were taken from a file")
    making: Making | None = Field(description="how modes were made; null where they were given, or not made yet")
    atoms: Groups
    modes: tuple[ModeFigures, ...]
    none: ModeRate | None = Field(description="criteria in which no mode was seen; null without modes")
    contrasts: tuple[ContrastFigures, ...]
    agreement: CoderAgreement = Field(description="on failed and met criteria")
    agreement_failed: CoderAgreement = Field(description="on failed criteria alone")
    misquoted: Count = Field(description="criteria that were not coded since a phrase does not stand in the answer")
    failures: Failures
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])
    second_failures: Failures = Field(description="criteria that the second coder did not code, by kind of failure")
    open_items: OpenItems


def of_atoms(atoms: Iterable[CodedAtom], mode: str | None) -> Share:
    """Return the share of atoms with a mode (None: without a mode), with its interval and bounds."""
    hits: list[bool] = []
    clusters: list[str] = []
    unknown = 0
    for atom in atoms:
        if atom.coding is None:
            unknown += 1
        else:
            hits.append(atom.mode == mode)
            clusters.append(atom.cluster)
    return share_of_hits(hits, clusters, unknown=unknown)


def of_answers(atoms: Iterable[CodedAtom], mode: str | None) -> Share:
    """Return the share of answers with a mode; answers without it that have an uncoded atom count as unknown."""
    hits: list[bool] = []
    clusters: list[str] = []
    unknown = 0
    for answer_atoms in grouped(atoms, lambda atom: atom.answer.key).values():
        has_mode = any(atom.coding is not None and atom.mode == mode for atom in answer_atoms)
        if has_mode or all(atom.coding is not None for atom in answer_atoms):
            hits.append(has_mode)
            clusters.append(answer_atoms[0].cluster)
        else:
            unknown += 1
    return share_of_hits(hits, clusters, unknown=unknown)


def of_mode(atoms: Sequence[CodedAtom], mode: str | None, models: Sequence[str]) -> ModeRate:
    """Return the figures of a mode, or of atoms without a mode (None)."""
    failed_atoms = [atom for atom in atoms if atom.failed]
    leaves = sorted({atom.leaf for atom in failed_atoms if atom.leaf and atom.coding is not None and atom.mode == mode})
    return ModeRate(
        failed=of_atoms(failed_atoms, mode),
        met=of_atoms((atom for atom in atoms if not atom.failed), mode),
        right=of_answers((atom for atom in atoms if atom.verdict == "right"), mode),
        wrong=of_answers((atom for atom in atoms if atom.verdict == "wrong"), mode),
        models={
            model: of_atoms((atom for atom in failed_atoms if atom.answer.model == model), mode) for model in models
        },
        leaves={leaf: of_atoms((atom for atom in failed_atoms if atom.leaf == leaf), mode) for leaf in leaves},
    )


def contrasts(
    atoms: Iterable[CodedAtom], modes: Sequence[str], models: Sequence[str], *, seed: int
) -> list[ContrastFigures]:
    """Return the differences between each model's failures and the others' on samples where both failed.

    On each sample, the mode's share of the model's failed atoms is compared with the mean share of the other models.
    The test exchanges models within images (`exchange_p_values`); p-values are adjusted over all tests
    (Benjamini-Hochberg). A verdict requires a small adjusted p-value and an interval on one side of 0. With fewer than
    five samples nothing is tested, and the verdict is empty.
    """
    if len(models) < 2:
        return []
    coded_atoms = [atom for atom in atoms if atom.failed and atom.coding is not None]
    draws = draws_for(len(models) * len(modes))
    by_mode = [_contrasts_of_mode(coded_atoms, mode, models, seed=seed, draws=draws) for mode in modes]
    by_model = [of_models[index] for index in range(len(models)) for of_models in by_mode]
    with_verdicts: list[ContrastFigures] = []
    for contrast, q_value in zip(by_model, adjusted([contrast.p_value for contrast in by_model]), strict=True):
        with_verdicts.append(contrast if q_value is None else _with_verdict(contrast, rounded(q_value)))
    return with_verdicts


def _contrasts_of_mode(
    coded: Sequence[CodedAtom], mode: str, models: Sequence[str], *, seed: int, draws: int
) -> list[ContrastFigures]:
    """Return each model's difference with its unadjusted p-value."""
    by_sample: dict[str, dict[str, list[bool]]] = {}
    cluster_of: dict[str, str] = {}
    for atom in coded:
        hits = by_sample.setdefault(atom.answer.sample_id, {})
        hits.setdefault(atom.answer.model, []).append(atom.mode == mode)
        cluster_of[atom.answer.sample_id] = atom.cluster
    shares = np.full((len(by_sample), len(models)), np.nan)
    for row, hits in enumerate(by_sample.values()):
        for index, model in enumerate(models):
            if model in hits:
                shares[row, index] = sum(hits[model]) / len(hits[model])
    clusters = list(cluster_of.values())
    gaps = gaps_to_others(shares)
    comparable = np.isfinite(gaps)
    p_values = exchange_p_values(gaps, clusters, seed=seed, draws=draws)
    contrasts: list[ContrastFigures] = []
    for index, model in enumerate(models):
        model_gaps: list[float] = gaps[comparable[:, index], index].tolist()
        difference, p_value, interval = None, None, None
        if len(model_gaps) >= FEWEST:
            own_clusters = [cluster for cluster, counts in zip(clusters, comparable[:, index], strict=True) if counts]
            interval = bootstrap_interval(model_gaps, clusters=own_clusters, seed=seed, bounds=(-1.0, 1.0))
            difference, p_value = rounded(sum(model_gaps) / len(model_gaps)), rounded(p_values[index])
        contrasts.append(
            ContrastFigures(
                model=model,
                mode=mode,
                n=len(model_gaps),
                difference=difference,
                **limits(interval),
                p_value=p_value,
                adjusted=None,
                verdict="",
            )
        )
    return contrasts


def _with_verdict(contrast: ContrastFigures, q_value: float) -> ContrastFigures:
    """Return a contrast with its adjusted p-value and its verdict, which also takes the usual interval if it exists."""
    verdict = "unclear"
    if q_value <= LIMIT and contrast.difference and not figures.leaves_open(contrast):
        verdict = "more often" if contrast.difference > 0 else "less often"
    return contrast.model_copy(update={"adjusted": q_value, "verdict": verdict})


def agreement(atoms: Iterable[CodedAtom]) -> CoderAgreement:
    """Return the agreement of two coders on the atoms that both coded; no interval without a kappa."""
    shared = [atom for atom in atoms if atom.asked_twice]
    first: list[str] = []
    second: list[str] = []
    clusters: list[str] = []
    for atom in shared:
        if atom.coding and atom.second:
            first.append(atom.coding.mode or "")
            second.append(atom.second.mode or "")
            clusters.append(atom.cluster)
    kappa = kappa_of(first, second, clusters)
    value = rounded(kappa.value)
    return CoderAgreement(n=kappa.n, held=len(shared), agreed=kappa.agreed, kappa=value, **limits(kappa.interval))


def modes_figures(home: Home, run: Run) -> ModesFigures:
    """Return the figures of an analysis; the same stored rows give the same bytes."""
    analysis = coded_of(home, run)
    plan, models, rows, atoms = analysis.plan, analysis.models, results(home, run.id), analysis.atoms
    names = [mode.name for mode in analysis.modes]
    examples = examples_by_mode(analysis, chosen(atoms, names, models, seed=plan.seed))
    making = get_result(home, run.id, BOOK)
    source = EVALUATION.read(get_run(home, plan.source))[0]
    modes: list[ModeFigures] = []
    for mode in analysis.modes:
        rate = of_mode(atoms, mode.name, models)
        modes.append(ModeFigures(**dict(mode), **dict(rate), examples=tuple(examples.get(mode.name, ()))))
    to_code = sum(len(answer.numbers) for answer in analysis.drawn.counting)
    return ModesFigures(
        run=run.id,
        source=plan.source,
        status=run.status,
        seed=plan.seed,
        simulated=tuple(sorted({*simulated_names(plan.models.values()), *simulated_names(source.models.values())})),
        judge=plan.judge_name,
        coder=plan.coder.ref.name,
        same_coder=model_identity(plan.coder) == model_identity(plan.judge),
        models=tuple(models),
        notes=tuple(_notes(analysis, None if making is None else making.reason)),
        given=bool(plan.given),
        making=None if analysis.book is None else _making(analysis.book),
        atoms=Groups(failed=_group(analysis, failed=True), met=_group(analysis, failed=False)),
        modes=tuple(modes),
        none=of_mode(atoms, None, models) if names else None,
        contrasts=tuple(contrasts(atoms, names, models, seed=plan.seed)),
        agreement=agreement(atoms),
        agreement_failed=agreement(atom for atom in atoms if atom.failed),
        misquoted=sum(atom.failure is not None and atom.reason.startswith(MISQUOTED) for atom in atoms),
        **failure_fields(row.failure for row in rows if row.failure and row.kind != SECOND),
        second_failures=failures_by_kind(row.failure for row in rows if row.failure and row.kind == SECOND),
        open_items=0 if run.status == "done" else to_code - len(atoms),
        **calls_and_costs(home, rows),
    )


def examples_by_mode(coded: Coded, atoms: Sequence[CodedAtom]) -> dict[str, list[Example]]:
    """Return examples by mode: model, sample, criterion, ground truth, and the quote that shows the mode."""
    examples: dict[str, list[Example]] = {}
    for atom in atoms:
        criterion = coded.criterion(atom)
        examples.setdefault(atom.mode or "", []).append(
            Example(
                model=atom.answer.model,
                sample=atom.answer.sample_id,
                repeat=atom.answer.repeat,
                criterion=atom.number,
                question=criterion.question,
                ground_truth=criterion.ground_truth,
                quote=atom.coding.quote if atom.coding else "",
            )
        )
    return examples


def _group(coded: Coded, *, failed: bool) -> CriterionGroup:
    """Return the numbers of a group's atoms in the counting half: total, drawn, and coded."""
    counts = coded.drawn.failed if failed else coded.drawn.met
    n = sum(len(answer.failed if failed else answer.met) for answer in coded.drawn.counting)
    n_scored = sum(atom.failed is failed and atom.coding is not None for atom in coded.atoms)
    return CriterionGroup(there=sum(counts.values()), n=n, n_scored=n_scored, coverage=n_scored / n if n else None)


def _making(book: NoteBook) -> Making:
    """Return how modes were made; `notes_to_last` is the number of notes sorted when the last new mode appeared."""
    n_sorted, sorted_to_last = 0, 0
    for batch in book.batches:
        n_sorted += batch.notes
        if batch.new:
            sorted_to_last = n_sorted
    return Making(
        answers=book.answers,
        atoms=book.atoms,
        notes=len(book.notes),
        omissions=sum(note.kind == "omission" for note in book.notes),
        nothing=book.nothing,
        loose=len(book.loose),
        batches=book.batches,
        settled=book.settled,
        notes_to_last=sorted_to_last,
        merged=book.merged,
        unmerged=book.unmerged or None,
        failures=dict(book.failures),
        unsorted=dict(book.unsorted),
    )


def _notes(coded: Coded, reason: str | None) -> Iterator[str]:
    """Yield notes for the reader."""
    book = coded.book
    if reason:
        yield f"No modes were made: {reason}"
    if book is not None and not coded.modes:
        yield f"No two of {len(book.notes)} notes tell of the same way of going wrong: there is no mode to count."
    if book is not None and coded.modes and not book.settled:
        yield (
            f"New modes came until the end of {len(book.notes)} notes, or too few came after the last: the list has not "
            "settled, and more samples may bring further modes."
        )
    images = len({atom.cluster for atom in coded.atoms})
    if coded.modes and 0 < images < FEWEST:
        yield f"The modes are counted on {figures.several(images, 'image')}: intervals are as wide as that says."


COLUMNS: dict[str, ColumnType] = {
    "criterion": "integer",
    "question": "text",
    "ground_truth": "text",
    "group": "text",
    "verdict": "text",
    "leaf": "text",
    "mode": "text",
    "quote": "text",
    "second": "text",
    **JUDGED,
}
"""Columns of an atom in an export: `group` is failed or met; `mode` is `none of these` for an atom without a mode, and
null if it was not coded; `second` is the second coder's mode, null without one."""


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield all atoms selected for coding, or those of one sample, ready for JSON."""
    analysis = coded_of(home, run)
    for atom in analysis.atoms:
        if sample is None or atom.answer.sample_id == sample:
            answer = {"sample": atom.answer.sample_id, "model": atom.answer.model, "repeat": atom.answer.repeat}
            yield {**answer, **_cells(analysis, atom), "failure": atom.failure, "reason": atom.reason or None}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of the export's columns for each atom; missing ones are null."""
    analysis = coded_of(home, run)
    by_item = {item_of(NAME, atom.answer, atom.number): _cells(analysis, atom) for atom in analysis.atoms}
    return [by_item[row.item] for row in rows]


def _cells(coded: Coded, atom: CodedAtom) -> dict[str, object]:
    criterion = coded.criterion(atom)
    line: dict[str, object] = {
        **dict.fromkeys(COLUMNS),
        "criterion": atom.number,
        "question": criterion.question,
        "ground_truth": criterion.ground_truth,
        "group": "failed" if atom.failed else "met",
        "verdict": atom.verdict,
        "leaf": atom.leaf or None,
        "judge": coded.plan.judge_name,
    }
    if atom.coding is not None:
        line |= {"mode": atom.coding.mode or NO_MODE, "quote": atom.coding.quote or None}
        line |= atom.coding.provenance.model_dump(include=set(COLUMNS))
    if atom.second is not None:
        line["second"] = atom.second.mode or NO_MODE
    return line
