"""The tables of a run's diagnosis: computation, storage, and comparison with another run (ATOM, 3.4 and H)."""

from dataclasses import replace
from typing import NamedTuple

from pydantic import BaseModel

from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
from dokimasia.domain.identity import value_id
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis.answer_tables import answer_tables, mode_tables, reasons
from dokimasia.methods.diagnosis.evidence_data import DiagnosisData, DiagnosisMaterial, by_category, gather
from dokimasia.methods.diagnosis.leaf_tables import (
    categories,
    change_tables,
    contrasts,
    heatmap,
    leaf_tables,
    radars,
    verdicts_of,
)
from dokimasia.methods.diagnosis.sample_tables import failures, overall, pairs, ranks, stability, top_ties, win_ties
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree import measured_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.reading.comparison import match_places, sample_refs
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import events, record_event
from dokimasia.storage.runs import Run, SqliteValueStore

EVENT = "diagnosed"
SHORT_ID = 8


class Changes(NamedTuple):
    """Changes from one run to another: the tables, the number of shared samples, and notes."""

    first: str
    second: str
    shared: int
    assets: tuple[Asset, ...]
    notes: tuple[str, ...]


def assets_of(material: DiagnosisMaterial) -> tuple[Asset, ...]:
    """Return all tables of a diagnosis in reading order; equal data give equal tables.

    Their ids are `models`, `pairs`, `ties`, `top-ties`, `ranks`, `stability`, `failures`, `reasons`; `categories`,
    `heatmap` and `contrasts` (category or leaf by model), `radar/GROUP` for each group of categories; and for each
    model `leaves/MODEL`, `nodes/MODEL`, `answers/MODEL`. If failure modes were analysed, `modes`, `modes/MODEL` and
    `examples/MODEL` follow. With a single model, tables that compare models are left out.
    """
    has_several_models = len(material.models) > 1
    grid = heatmap(material)
    assets = [overall(material)]
    if has_several_models:
        assets += [pairs(material), win_ties(material), top_ties(material), ranks(material)]
    if material.grouping == "tree":
        assets.append(categories(material))
    assets += [*radars(material, grid), grid]
    if has_several_models:
        assets.append(contrasts(material))
    assets += leaf_tables(material, verdicts_of(material))
    assets += mode_tables(material)
    assets += [stability(material), failures(material), reasons(material), *answer_tables(material)]
    return tuple(assets)


def diagnose(home: Home, run: Run, *, tree: str | None = None, seed: int | None = None) -> Diagnosis:
    """Return the tables of a run's diagnosis; equal rows give equal bytes. Nothing is stored (see `store_diagnosis`).

    Args:
        home: the home.
        run: an evaluation, finished or not.
        tree: tree or version; by default the run's, or else the data's categories.
        seed: seed of intervals and permutations; by default the run's.

    Raises:
        NotFound: the run is not an evaluation, or there is no such tree.
        InputError: the run has no scores, or the named tree has none of its criteria.
    """
    return diagnosis_of(run, gather(home, run, tree=tree, seed=seed))


def diagnosis_of(run: Run, diagnosis_data: DiagnosisData) -> Diagnosis:
    """Return the tables computed from a run's data."""
    tree_version = diagnosis_data.loaded.stored if diagnosis_data.loaded else None
    material = diagnosis_data.material
    return Diagnosis(
        run=run.id,
        status=run.status,
        seed=material.seed,
        grouping=material.grouping,
        tree=tree_version.tree if tree_version else "",
        position=tree_version.position if tree_version else 0,
        version=tree_version.id if tree_version else "",
        models=material.models,
        simulated=tuple(simulated_names(EVALUATION.read(run)[0].models.values())),
        notes=diagnosis_data.notes,
        assets=assets_of(material),
    )


class StoredDiagnosis(BaseModel):
    """The event of a diagnosis that was stored: its id, its tree with the id of the version, and its number of tables."""

    diagnosis: str
    tree: str = ""
    version: str = ""
    assets: int = 0


async def store_diagnosis(home: Home, run: Run, diagnosis: Diagnosis) -> bool:
    """Store a diagnosis with its run, and return whether it differs from the previous one.

    Raises:
        StorageError: the diagnosis could not be written.
    """
    id = value_id(diagnosis)
    if stored_diagnosis_id(home, run) == id:
        return False
    await SqliteValueStore(home, run.id).put(diagnosis)
    await record_event(
        home,
        run.id,
        EVENT,
        StoredDiagnosis(
            diagnosis=id, tree=diagnosis.tree, version=diagnosis.version, assets=len(diagnosis.assets)
        ).model_dump(),
    )
    return True


def stored_diagnosis_id(home: Home, run: Run) -> str | None:
    """Return the id of the last stored diagnosis; None if there is none."""
    stored_events = events(home, run.id, kind=EVENT)
    if stored_events:
        return StoredDiagnosis.model_validate(stored_events[-1].data).diagnosis
    return None


def stored_diagnosis(home: Home, run: Run) -> Diagnosis | None:
    """Return the last stored diagnosis; None if there is none.

    Raises:
        StorageError: the home is damaged.
    """
    id = stored_diagnosis_id(home, run)
    if id is None:
        return None
    return find_values(home, Diagnosis, [id])[id]


def compare_diagnoses(
    home: Home, first: Run, second: Run, *, tree: str | None = None, seed: int | None = None
) -> Changes:
    """Return the changes from the first run to the second, leaf by leaf, corrected for multiple tests.

    Samples are paired by content. Both runs' criteria are compared under one tree; if the first run has no tree, or its
    tree lacks the second run's criteria, the data's categories are used.

    Args:
        home: the home.
        first: the reference run.
        second: the run to compare with it.
        tree: tree or version; by default the first run's.
        seed: seed of intervals and permutations; by default the first run's.

    Raises:
        NotFound: a run is not an evaluation, or there is no such tree.
        InputError: the runs are the same, share no model or no sample, or one has no scores.
    """
    if first.id == second.id:
        raise InputError(f"run {first.id} does not differ from itself: name another run with --against")
    first_samples, second_samples = sample_refs(home, first), sample_refs(home, second)
    shared, _ = match_places(first_samples, second_samples)
    if not shared:
        raise InputError(f"runs {first.id} and {second.id} have no sample in common")
    before, after, notes = _same_grouping(home, first, second, tree=tree, seed=seed)
    if not {*before.models} & {*after.models}:
        raise InputError(
            f"no model is in both runs: {first.id} has {', '.join(before.models)}; "
            f"{second.id} has {', '.join(after.models)}"
        )
    in_one_run = sorted({*before.models} ^ {*after.models})
    if in_one_run:
        notes.append(f"In one of the two runs alone, and left out: {', '.join(in_one_run)}.")
    if len(shared) < max(len(first_samples), len(second_samples)):
        notes.append(f"{len(shared)} samples are in both runs, of {len(first_samples)} and {len(second_samples)}.")
    names = (first.id[:SHORT_ID], second.id[:SHORT_ID])
    tables = change_tables(before, after, shared, names=names)
    return Changes(first.id, second.id, len(shared), tuple(tables), tuple(notes))


def _same_grouping(
    home: Home, first: Run, second: Run, *, tree: str | None, seed: int | None
) -> tuple[DiagnosisMaterial, DiagnosisMaterial, list[str]]:
    """Return both runs' data under one tree, or both under the data's categories, and notes for the reader."""
    before = gather(home, first, tree=tree, seed=seed)
    notes = list(before.notes)
    if before.loaded is not None:
        if before.loaded.criteria.keys() & measured_of(home, second).sample_of.keys():
            after = gather(home, second, tree=before.loaded.name, seed=seed)
            notes += [note for note in after.notes if note not in notes]
            return before.material, after.material, notes
        notes = [
            f"{before.loaded.name} does not know the criteria of run {second.id}, so both runs are grouped by the data's "
            "categories instead."
        ]
    before_by_category = by_category(home, first, seed=seed).material
    after_by_category = by_category(home, second, seed=seed).material
    return before_by_category, replace(after_by_category, seed=before_by_category.seed), notes
