"""What a diagnosis takes from a home: a run's scores under its tree, or its categories, its answers, and what to warn of."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from dokimasia.algorithms.taxonomy import leaves, new_tree
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.domain.capability import MAX_NAME, plain_name
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.diagnosis.tables import Grouping
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis.measured import Answered, DiagnosisMaterial, Final
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.modes import Coded, coded_of, latest_modes
from dokimasia.methods.tree import (
    LoadedTree,
    MeasuredRun,
    find_tree_of_run,
    load_stored,
    load_tree,
    mapping_of,
    measured_of,
)
from dokimasia.report.figures import SPEAKING, share, spoken
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, judgement_scores, judgement_stated, load_samples, run_samples
from dokimasia.storage.trees.versions import StoredVersion, get_version, versions

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

UNNAMED = "uncategorised"
ARM = "#"
"""What the name of an arm begins with, as it is shown."""

_FINAL: Mapping[str | None, Final] = {"right": "right", "wrong": "wrong", None: "no reference"}
BY_HAND = frozenset({"edit", "restore", "import"})


class Gathered(NamedTuple):
    """What a diagnosis is made from, the tree where there is one, and what a reader must know first."""

    material: DiagnosisMaterial
    loaded: LoadedTree | None
    notes: tuple[str, ...]


def gather(home: Home, run: Run, *, tree: str | None = None, seed: int | None = None) -> Gathered:
    """Return what a diagnosis of a run is made from; equal rows give equal material.

    Args:
        home: where the run is.
        run: an evaluation, finished or not.
        tree: which tree or version; by default the run's, and where it has none the data's categories.
        seed: of intervals and permutations; by default the run's.

    Raises:
        NotFound: the run is not an evaluation, or there is no such tree.
        InputError: nothing of it has a score, or the tree that was named holds none of its criteria.
    """
    measured = _measured(home, run)
    if tree is not None:
        loaded = load_tree(home, tree)
    else:
        stored = find_tree_of_run(home, run)
        loaded = stored and load_stored(home, stored)
    if loaded is None:
        found = by_category(home, run, seed=seed)
        note = (
            "No tree holds the criteria of this run: they are grouped by the data's categories instead. Grow one with "
            f"dokimasia tree grow {run.id} --judge NAME"
        )
        return found._replace(notes=(note, *found.notes))
    if not mapping_of(loaded.tree).keys() & measured.sample_of.keys():
        raise InputError(
            f"{loaded.name} holds no criterion of run {run.id}: name another tree with --tree, or grow one with "
            f"dokimasia tree grow {run.id} --judge NAME"
        )
    notes = (*mapping_notes(home, run, loaded, measured), *_run_notes(home, run))
    return Gathered(_material(home, run, measured, loaded.tree, "tree", seed), loaded, notes)


def by_category(home: Home, run: Run, *, seed: int | None = None) -> Gathered:
    """Return what a diagnosis of a run is made from with its criteria under the data's categories, tree or none.

    Raises:
        NotFound: the run is not an evaluation.
        InputError: nothing of it has a score.
    """
    measured = _measured(home, run)
    category = {sample.id: sample.category or UNNAMED for sample in load_samples(home, run.id)}
    graph = category_tree({one: category.get(sample, UNNAMED) for one, sample in measured.sample_of.items()})
    return Gathered(_material(home, run, measured, graph, "category", seed), None, tuple(_run_notes(home, run)))


def category_tree(category_of: Mapping[str, str]) -> "Tree":
    """Return a tree of one layer: the root and a node for each category, which holds its criteria itself."""
    names = {category: _named(category) for category in category_of.values()}
    tree = new_tree(sorted(set(names.values()), key=str.casefold) or [UNNAMED])
    held: dict[str, set[str]] = {}
    for criterion, category in category_of.items():
        held.setdefault(f"<{names[category]}>", set()).add(criterion)
    for node, criteria in held.items():
        tree.nodes[node].update(members=frozenset(criteria), support=len(criteria))
    return tree


def mapping_notes(home: Home, run: Run, loaded: LoadedTree, measured: MeasuredRun) -> list[str]:
    """Return where the mapping that a diagnosis goes by is not, or no longer, the whole truth."""
    notes: list[str] = []
    asked = {one for side in (measured.scores, measured.failures) for each in side.values() for one in each}
    unknown = sorted(asked - loaded.criteria.keys())
    if unknown:
        notes.append(
            f"The mapping of {loaded.name} is out of date: {len(unknown)} of {len(asked)} criteria of this run are not in "
            f"it, and are left out of all leaves. Map them with dokimasia tree grow {run.id} --judge NAME"
        )
    if loaded.unplaced:
        kinds = ", ".join(f"{count} {kind}" for kind, count in loaded.unplaced.items())
        notes.append(f"Criteria without a place in {loaded.name}, left out of all leaves: {kinds}.")
    known = versions(home, loaded.stored.tree)
    if known[-1].position > loaded.stored.position:
        notes.append(
            f"The mapping of {loaded.name} is out of date: the tree was changed since, its newest version is "
            f"{known[-1].tree}@{known[-1].position} ({known[-1].phase})."
        )
    if loaded.stored.phase in BY_HAND:
        notes += _since_the_mapping(home, loaded, known)
    return notes


def _since_the_mapping(home: Home, loaded: LoadedTree, known: Sequence[StoredVersion]) -> list[str]:
    """Return a note where leaves were added by hand after the criteria were mapped, so that none was compared with them."""
    earlier = [one for one in known if one.position < loaded.stored.position and one.phase == "map"]
    if not earlier:
        return []
    before = earlier[-1]
    old = set(leaves(from_version(get_version(home, before.id))))
    empty = [node for node in leaves(loaded.tree) if node not in old and not loaded.tree.nodes[node].get("members")]
    if not empty:
        return []
    return [
        f"The mapping of {before.tree}@{before.position} is out of date: {loaded.name} was edited since, and no criterion "
        f"was compared with {', '.join(empty)}."
    ]


def _measured(home: Home, run: Run) -> MeasuredRun:
    """Return a run's scores without those of the arms that did not see the image."""
    EVALUATION.read(run)[0].judge_of("score")
    found = measured_of(home, run, as_judged=True)
    measured = MeasuredRun(
        scores={name: each for name, each in found.scores.items() if ARM not in name},
        failures={name: each for name, each in found.failures.items() if ARM not in name},
        sample_of=found.sample_of,
        cluster_of=found.cluster_of,
    )
    if not any(measured.scores.values()):
        raise InputError(
            f"run {run.id} has no score of any criterion, so there is nothing to diagnose: dokimasia show {run.id} says why"
        )
    return measured


def _material(
    home: Home, run: Run, measured: MeasuredRun, tree: "Tree", grouping: Grouping, seed: int | None
) -> DiagnosisMaterial:
    return DiagnosisMaterial(
        tree=tree,
        grouping=grouping,
        measured=measured,
        models=_ranked(measured),
        answers=_answers(home, run),
        repeats=EVALUATION.read(run)[0].repeats,
        seed=run.seed if seed is None else seed,
        coded=_coded(home, run),
        silence_known=EVALUATION.read(run)[0].protocol != "published",
    )


def _coded(home: Home, run: Run) -> Coded | None:
    """Return the newest analysis of the run's failures; None without one, or where it found no mode."""
    found = latest_modes(home, run.id)
    coded = None if found is None else coded_of(home, found)
    return coded if coded is not None and coded.modes else None


def _run_notes(home: Home, run: Run) -> list[str]:
    notes: list[str] = []
    if run.status != "done":
        notes.append(f"The run is not finished ({run.status}): dokimasia resume {run.id}")
    if any(arm for (arm,) in home.all("SELECT DISTINCT arm FROM results WHERE run_id = ?", (run.id,))):
        notes.append("Arms without the image are left out of this diagnosis.")
    silent = _silent_models(home, run)
    if silent:
        notes.append(
            f"These speak to less than {share(SPEAKING).text} of the criteria's weight: {', '.join(silent)}. Silence counts 1 "
            "in scores, so what is marked weak of them may be what they leave unsaid."
        )
    return notes


def _silent_models(home: Home, run: Run) -> list[str]:
    """Return the models whose scores speak of how much they say, each with the share of the criteria that it speaks to."""
    shares: dict[str, dict[str, list[float]]] = {}
    for row in results(home, run.id, as_judged=True):
        if row.kind == "score" and not row.arm and row.stated is not None:
            shares.setdefault(row.model, {}).setdefault(row.sample_id, []).append(row.stated)
    means = {model: fmean(map(fmean, samples.values())) for model, samples in shares.items()}
    return [f"{model} ({spoken(mean).text})" for model, mean in sorted(means.items()) if mean < SPEAKING]


def _ranked(measured: MeasuredRun) -> tuple[str, ...]:
    """Return the models, the highest mean over criteria first, those without a score last."""
    names = {*measured.scores, *measured.failures}

    def mean(name: str) -> float:
        scores = measured.scores.get(name, {})
        return sum(scores.values()) / len(scores) if scores else -1.0

    return tuple(sorted(names, key=lambda name: (-round(mean(name), 9), name)))


def _named(category: str) -> str:
    """Return a category as a node's name: without what a name cannot hold, cut to its length."""
    kept = "".join(sign if sign.isprintable() and sign not in "<>" else " " for sign in category)
    try:
        return plain_name(" ".join(kept.split())[:MAX_NAME].strip())
    except ValueError:
        return UNNAMED


def _answers(home: Home, run: Run) -> list[Answered]:
    scores, stated = judgement_scores(home, run.id), judgement_stated(home, run.id)
    clusters = {one.sample_id: one.cluster for one in run_samples(home, run.id)}
    rows = [row for row in results(home, run.id, as_judged=True) if row.kind == "score" and not row.arm]
    sets = find_values(home, CriteriaSet, (row.criteria_id for row in rows if row.criteria_id))

    def reasons(row: ResultRow) -> tuple[int, ...]:
        if not (row.judgement_id and row.criteria_id):
            return ()
        judged = zip(sets[row.criteria_id].criteria, scores[row.judgement_id], stated[row.judgement_id], strict=True)
        return tuple(score for criterion, score, spoken_to in judged if spoken_to and not criterion.final)

    return [
        Answered(
            sample_id=row.sample_id,
            cluster=clusters.get(row.sample_id, row.sample_id),
            model=row.model,
            repeat=row.repeat,
            score=row.score,
            failure=row.failure,
            reasons=reasons(row),
            final=_FINAL.get(row.verdict, "undecided"),
        )
        for row in rows
    ]
