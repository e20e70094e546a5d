"""`diagnose`: a run's tables made, kept with the run, and compared with those of another run."""

from dataclasses import replace
from typing import NamedTuple

from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
from dokimasia.domain.identity import value_id
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis.changes import change_tables
from dokimasia.methods.diagnosis.material import Gathered, by_category, gather
from dokimasia.methods.diagnosis.measured import DiagnosisMaterial
from dokimasia.methods.diagnosis.tables import assets_of
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree import measured_of
from dokimasia.runs.figures import simulated
from dokimasia.runs.reading.comparison import SampleRef, match_places
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import events, record_event
from dokimasia.storage.runs import Run, SqliteRunStore, run_samples

EVENT = "diagnosed"
SHORT = 8


class Changes(NamedTuple):
    """What got better or worse from one run to another: the tables, how many samples both have, and what to know first."""

    first: str
    second: str
    shared: int
    assets: tuple[Asset, ...]
    notes: tuple[str, ...]


def diagnose(home: Home, run: Run, *, tree: str | None = None, seed: int | None = None) -> Diagnosis:
    """Return the tables of a run's diagnosis; equal rows give equal bytes. Nothing is written: see `keep`.

    Args:
        home: where the run is, open for reading at least.
        run: an evaluation, finished or not.
        tree: which tree or version; by default the run's, and where it has none the data's categories.
        seed: of intervals and permutations; by default the run's.

    Raises:
        NotFound: the run is not an evaluation, or there is no such tree.
        InputError: nothing of the run has a score, or the tree that was named holds none of its criteria.
    """
    return diagnosis_of(run, gather(home, run, tree=tree, seed=seed))


def diagnosis_of(run: Run, gathered: Gathered) -> Diagnosis:
    """Return the tables of what was gathered of a run."""
    stored = gathered.loaded.stored if gathered.loaded else None
    material = gathered.material
    return Diagnosis(
        run=run.id,
        status=run.status,
        seed=material.seed,
        grouping=material.grouping,
        tree=stored.tree if stored else "",
        position=stored.position if stored else 0,
        version=stored.id if stored else "",
        models=material.models,
        simulated=tuple(simulated(EVALUATION.read(run)[0].models.values())),
        notes=gathered.notes,
        assets=assets_of(material),
    )


async def keep(home: Home, run: Run, diagnosis: Diagnosis) -> bool:
    """Keep a diagnosis with its run; whether it is another than the one that was kept last.

    Raises:
        StorageError: it could not be written.
    """
    id = value_id(diagnosis)
    if kept_id(home, run) == id:
        return False
    await SqliteRunStore(home, run.id).put(diagnosis)
    await record_event(
        home,
        run.id,
        EVENT,
        {"diagnosis": id, "tree": diagnosis.tree, "version": diagnosis.version, "assets": len(diagnosis.assets)},
    )
    return True


def kept_id(home: Home, run: Run) -> str | None:
    """Return the id of the diagnosis that was kept last, None without one."""
    kept = events(home, run.id, kind=EVENT)
    return str(kept[-1].data["diagnosis"]) if kept else None


def kept(home: Home, run: Run) -> Diagnosis | None:
    """Return the diagnosis that was kept last, None without one.

    Raises:
        StorageError: the home is damaged.
    """
    id = kept_id(home, run)
    return None if id is None else find_values(home, Diagnosis, [id])[id]


def changes(home: Home, first: Run, second: Run, *, tree: str | None = None, seed: int | None = None) -> Changes:
    """Return what got better or worse from the first run to the second, leaf by leaf, corrected for looking at all.

    Samples are paired by content. Both runs' criteria have their places in one tree; where the first run has no tree,
    or its tree does not know the second's criteria, the data's categories take its place.

    Args:
        home: where both are.
        first: the run that is the standard.
        second: the run that is compared with it.
        tree: which tree or version; by default the first run's.
        seed: of intervals and permutations; by default the first run's.

    Raises:
        NotFound: a run is not an evaluation, or there is no such tree.
        InputError: the runs are the same, or have no model or no sample in common, or a run has no scores.
    """
    if first.id == second.id:
        raise InputError(f"run {first.id} does not differ from itself: name another run with --against")
    places = [
        [SampleRef(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
        for run in (first, second)
    ]
    shared, _ = match_places(places[0], places[1])
    if not shared:
        raise InputError(f"runs {first.id} and {second.id} have no sample in common")
    one, other, notes = _same_ground(home, first, second, tree=tree, seed=seed)
    alone = sorted({*one.models} ^ {*other.models})
    if not {*one.models} & {*other.models}:
        raise InputError(
            f"no model is in both runs: {first.id} has {', '.join(one.models)}; {second.id} has {', '.join(other.models)}"
        )
    if alone:
        notes.append(f"In one of the two runs alone, and left out: {', '.join(alone)}.")
    if len(shared) < max(map(len, places)):
        notes.append(f"{len(shared)} samples are in both runs, of {len(places[0])} and {len(places[1])}.")
    names = (first.id[:SHORT], second.id[:SHORT])
    return Changes(
        first.id, second.id, len(shared), tuple(change_tables(one, other, shared, names=names)), tuple(notes)
    )


def _same_ground(
    home: Home, first: Run, second: Run, *, tree: str | None, seed: int | None
) -> tuple[DiagnosisMaterial, DiagnosisMaterial, list[str]]:
    """Return both runs' material under one tree, or both under the data's categories."""
    ours = gather(home, first, tree=tree, seed=seed)
    notes = list(ours.notes)
    if ours.loaded is not None and ours.loaded.criteria.keys() & measured_of(home, second).sample_of.keys():
        theirs = gather(home, second, tree=ours.loaded.name, seed=seed)
        notes += [note for note in theirs.notes if note not in notes]
        return ours.material, theirs.material, notes
    if ours.loaded is not None:
        notes = [
            f"{ours.loaded.name} does not know the criteria of run {second.id}, so both runs are grouped by the data's "
            "categories instead."
        ]
    both = [by_category(home, run, seed=seed) for run in (first, second)]
    return both[0].material, replace(both[1].material, seed=both[0].material.seed), notes
