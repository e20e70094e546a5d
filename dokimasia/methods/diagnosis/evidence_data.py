"""The data of a diagnosis: a run's answers and scores, grouped by capability tree or by the data's categories."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Literal, NamedTuple

from dokimasia.algorithms.taxonomy import leaves, new_tree
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.domain.capability import MAX_NAME, plain_name
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.diagnosis.tables import Grouping
from dokimasia.errors import InputError
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
from dokimasia.storage.runs import Run, clusters_by_sample, judged_criteria, load_samples
from dokimasia.storage.trees.versions import StoredVersion, get_version, versions

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

LIMIT = 0.05
"""The permitted share of false marks among all marks of a diagnosis."""

MIN_SUPPORT = 5
"""Leaves with fewer scored criteria are shown but never marked."""

OWN_INTERVAL = ", each with its own 95 % interval, clustered by images"
"""The part of a table's sentence about the cells' intervals; removed where intervals are not drawn."""

UNNAMED = "uncategorised"
ARM = "#"
"""Separator of model and arm in a displayed name."""

FinalAnswer = Literal["right", "wrong", "undecided", "no reference"]
"""Whether an answer's final answer is right; undecided if neither a rule nor the judge could decide."""

_FINAL_ANSWERS: Mapping[str | None, FinalAnswer] = {"right": "right", "wrong": "wrong", None: "no reference"}
_EDIT_PHASES = frozenset({"edit", "restore", "import"})


@dataclass(frozen=True, slots=True)
class DiagnosedAnswer:
    """An answer of a model: its score (1 to 5; None with a `failure`), final answer and reasons.

    `reasons` are the scores of the criteria that the answer addresses, except the final answer's. Other criteria are
    left out, since silence is not an error.
    """

    sample_id: str
    cluster: str
    model: str
    repeat: int
    score: float | None
    failure: str | None
    reasons: tuple[int, ...] = ()
    final: FinalAnswer = "no reference"


class ModelSamples(NamedTuple):
    """A model's samples: mean score over scored repeats, scores of all repeats, and cluster of each sample."""

    scores: Mapping[str, float]
    repeats: Mapping[str, Sequence[float]]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class DiagnosisMaterial:
    """The data from which the tables of a diagnosis are computed.

    Attributes:
        tree: the capability tree with the run's criteria, or else a tree of the data's categories.
        grouping: whether the leaves are capabilities of a tree or the data's categories.
        measured: the scores by criterion, 0 to 100.
        models: the diagnosed models in the order of the tables, without arms that do not see the image.
        answers: all answers of these models, in the run's order.
        repeats: number of answers to each sample.
        seed: seed of intervals and permutations.
        coded: failed atoms by failure mode, if they were analysed.
        silence_known: whether the judge was asked which criteria an answer does not address.
    """

    tree: "Tree"
    grouping: Grouping
    measured: MeasuredRun
    models: tuple[str, ...]
    answers: Sequence[DiagnosedAnswer] = field(default_factory=list[DiagnosedAnswer])
    repeats: int = 1
    seed: int = 0
    coded: Coded | None = None
    silence_known: bool = True

    @property
    def leaf(self) -> str:
        """The word for a group of criteria."""
        if self.grouping == "tree":
            return "leaf"
        return "category"

    @property
    def leaves(self) -> str:
        """The word for several groups of criteria."""
        if self.grouping == "tree":
            return "leaves"
        return "categories"

    @cached_property
    def samples(self) -> Mapping[str, ModelSamples]:
        """Each model's samples."""
        return {model: _samples_of(self.answers_of(model)) for model in self.models}

    def answers_of(self, model: str) -> list[DiagnosedAnswer]:
        """Return a model's answers."""
        return [answer for answer in self.answers if answer.model == model]

    def scores(self, model: str) -> Mapping[str, float]:
        """Return a model's scores by criterion."""
        return self.measured.scores.get(model, {})

    def failures(self, model: str) -> Mapping[str, str]:
        """Return the kind of failure of each of a model's criteria without a score."""
        return self.measured.failures.get(model, {})

    def clusters_of(self, criteria: Iterable[str]) -> list[str]:
        """Return the cluster of each criterion; criteria about the same image share one."""
        return [self.measured.cluster_of.get(criterion, criterion) for criterion in criteria]

    def counted(self, count: int) -> str:
        """Return a number of groups with the noun in the right form."""
        return f"{count} {self.leaf if count == 1 else self.leaves}"


def _samples_of(answers: Iterable[DiagnosedAnswer]) -> ModelSamples:
    repeats: dict[str, list[float]] = {}
    clusters: dict[str, str] = {}
    for answer in answers:
        clusters[answer.sample_id] = answer.cluster
        if answer.score is not None:
            repeats.setdefault(answer.sample_id, []).append(answer.score)
    means = {sample: sum(scores) / len(scores) for sample, scores in repeats.items()}
    return ModelSamples(means, repeats, clusters)


def slugs_of(models: Sequence[str]) -> Mapping[str, str]:
    """Return the part of asset ids for each model: a unique form of its name without invalid characters."""
    slugs: dict[str, str] = {}
    for model in models:
        base = (
            "".join("-" if character.isspace() or character in ":[]/" else character for character in model) or "model"
        )
        slugs[model] = next(slug for slug in numbered(base) if slug not in slugs.values())
    return slugs


def numbered(base: str) -> Iterator[str]:
    """Yield a name, then the name with the numbers 2, 3 and so on appended."""
    yield base
    for number in itertools.count(2):
        yield f"{base}-{number}"


class DiagnosisData(NamedTuple):
    """The data of a diagnosis, its tree (if any), and notes for the reader."""

    material: DiagnosisMaterial
    loaded: LoadedTree | None
    notes: tuple[str, ...]


def gather(home: Home, run: Run, *, tree: str | None = None, seed: int | None = None) -> DiagnosisData:
    """Return the data of a run's diagnosis; equal rows give equal data.

    Args:
        home: the home.
        run: an evaluation, finished or not.
        tree: tree or version; by default the run's tree or, without one, the data's categories.
        seed: seed of intervals and permutations; by default the run's.

    Raises:
        NotFound: the run is not an evaluation, or there is no such tree.
        InputError: the run has no scores, or the named tree has none of its criteria.
    """
    measured = _measured(home, run)
    if tree is not None:
        loaded = load_tree(home, tree)
    else:
        tree_version = find_tree_of_run(home, run)
        loaded = tree_version and load_stored(home, tree_version)
    if loaded is None:
        by_categories = by_category(home, run, seed=seed)
        note = (
            "No tree holds the criteria of this run: they are grouped by the data's categories instead. Grow one with "
            f"dokimasia tree grow {run.id} --judge NAME"
        )
        return by_categories._replace(notes=(note, *by_categories.notes))
    if not mapping_of(loaded.tree).keys() & measured.sample_of.keys():
        raise InputError(
            f"{loaded.name} holds no criterion of run {run.id}: name another tree with --tree, or grow one with "
            f"dokimasia tree grow {run.id} --judge NAME"
        )
    notes = (*_mapping_notes(home, run, loaded, measured), *_run_notes(home, run))
    return DiagnosisData(_material(home, run, measured, loaded.tree, "tree", seed), loaded, notes)


def by_category(home: Home, run: Run, *, seed: int | None = None) -> DiagnosisData:
    """Return the data of a diagnosis by the data's categories, even if the run has a tree.

    Raises:
        NotFound: the run is not an evaluation.
        InputError: the run has no scores.
    """
    measured = _measured(home, run)
    categories = {sample.id: sample.category or UNNAMED for sample in load_samples(home, run.id)}
    tree = category_tree(
        {criterion: categories.get(sample, UNNAMED) for criterion, sample in measured.sample_of.items()}
    )
    return DiagnosisData(_material(home, run, measured, tree, "category", seed), None, tuple(_run_notes(home, run)))


def category_tree(category_of: Mapping[str, str]) -> "Tree":
    """Return a tree of one layer: the root, and a node for each category with its criteria."""
    names = {category: _node_name(category) for category in category_of.values()}
    tree = new_tree(sorted(set(names.values()), key=str.casefold) or [UNNAMED])
    members: dict[str, set[str]] = {}
    for criterion, category in category_of.items():
        members.setdefault(f"<{names[category]}>", set()).add(criterion)
    for node, criteria in members.items():
        tree.nodes[node].update(members=frozenset(criteria), support=len(criteria))
    return tree


def _node_name(category: str) -> str:
    """Return a category as a node's name: shortened, and without invalid characters."""
    printable = "".join(
        character if character.isprintable() and character not in "<>" else " " for character in category
    )
    try:
        return plain_name(" ".join(printable.split())[:MAX_NAME].strip())
    except ValueError:
        return UNNAMED


def _mapping_notes(home: Home, run: Run, loaded: LoadedTree, measured: MeasuredRun) -> list[str]:
    """Return notes on criteria that are missing from the mapping or outdated in it."""
    notes: list[str] = []
    criteria = set[str]().union(*measured.scores.values(), *measured.failures.values())
    unmapped = criteria - loaded.criteria.keys()
    if unmapped:
        notes.append(
            f"The mapping of {loaded.name} is out of date: {len(unmapped)} of {len(criteria)} criteria of this run are not in "
            f"it, and are left out of all leaves. Map them with dokimasia tree grow {run.id} --judge NAME"
        )
    if loaded.unplaced:
        kinds = ", ".join(f"{count} {kind}" for kind, count in loaded.unplaced.items())
        notes.append(f"Criteria without a place in {loaded.name}, left out of all leaves: {kinds}.")
    history = versions(home, loaded.stored.tree)
    newest = history[-1]
    if newest.position > loaded.stored.position:
        notes.append(
            f"The mapping of {loaded.name} is out of date: the tree was changed since, its newest version is "
            f"{newest.tree}@{newest.position} ({newest.phase})."
        )
    if loaded.stored.phase in _EDIT_PHASES:
        notes += _leaves_without_mapping(home, loaded, history)
    return notes


def _leaves_without_mapping(home: Home, loaded: LoadedTree, history: Sequence[StoredVersion]) -> list[str]:
    """Return a note on leaves added by hand after the mapping, with which no criterion was compared."""
    mapped = [version for version in history if version.position < loaded.stored.position and version.phase == "map"]
    if not mapped:
        return []
    before = mapped[-1]
    old = set(leaves(from_version(get_version(home, before.id))))
    empty = [node for node in leaves(loaded.tree) if node not in old and not loaded.tree.nodes[node].get("members")]
    if not empty:
        return []
    return [
        f"The mapping of {before.tree}@{before.position} is out of date: {loaded.name} was edited since, and no criterion "
        f"was compared with {', '.join(empty)}."
    ]


def _measured(home: Home, run: Run) -> MeasuredRun:
    """Return a run's scores without those of arms that do not see the image."""
    EVALUATION.read(run)[0].judge_of("score")
    with_arms = measured_of(home, run, as_judged=True)
    measured = MeasuredRun(
        scores={name: scores for name, scores in with_arms.scores.items() if ARM not in name},
        failures={name: failures for name, failures in with_arms.failures.items() if ARM not in name},
        sample_of=with_arms.sample_of,
        cluster_of=with_arms.cluster_of,
    )
    if not any(measured.scores.values()):
        raise InputError(
            f"run {run.id} has no score of any criterion, so there is nothing to diagnose: dokimasia show {run.id} says why"
        )
    return measured


def _material(
    home: Home, run: Run, measured: MeasuredRun, tree: "Tree", grouping: Grouping, seed: int | None
) -> DiagnosisMaterial:
    plan = EVALUATION.read(run)[0]
    modes_run = latest_modes(home, run.id)
    analysis = None if modes_run is None else coded_of(home, modes_run)
    return DiagnosisMaterial(
        tree=tree,
        grouping=grouping,
        measured=measured,
        models=_ranked(measured),
        answers=_answers(home, run),
        repeats=plan.repeats,
        seed=run.seed if seed is None else seed,
        coded=analysis if analysis is not None and analysis.modes else None,
        silence_known=plan.protocol != "published",
    )


def _run_notes(home: Home, run: Run) -> list[str]:
    notes: list[str] = []
    if run.status != "done":
        notes.append(f"The run is not finished ({run.status}): dokimasia resume {run.id}")
    if any(arm for (arm,) in home.all("SELECT DISTINCT arm FROM results WHERE run_id = ?", (run.id,))):
        notes.append("Arms without the image are left out of this diagnosis.")
    silent = _silent_models(home, run)
    if silent:
        notes.append(
            f"These address less than {share(SPEAKING).text} of the criteria's weight: {', '.join(silent)}. Silence counts 1 "
            "in scores, so what is marked weak of them may be what they leave unsaid."
        )
    return notes


def _silent_models(home: Home, run: Run) -> list[str]:
    """Return the models that address too few criteria, each with the share it addresses."""
    shares: dict[str, dict[str, list[float]]] = {}
    for row in results(home, run.id, as_judged=True):
        if row.kind == "score" and not row.arm and row.stated is not None:
            shares.setdefault(row.model, {}).setdefault(row.sample_id, []).append(row.stated)
    silent: list[str] = []
    for model, samples in sorted(shares.items()):
        mean = fmean(map(fmean, samples.values()))
        if mean < SPEAKING:
            silent.append(f"{model} ({spoken(mean).text})")
    return silent


def _ranked(measured: MeasuredRun) -> tuple[str, ...]:
    """Return the models by mean over criteria, highest first, and those without a score last."""

    def rank(name: str) -> tuple[float, str]:
        scores = measured.scores.get(name, {})
        mean = sum(scores.values()) / len(scores) if scores else -1.0
        return -round(mean, 9), name

    return tuple(sorted({*measured.scores, *measured.failures}, key=rank))


def _answers(home: Home, run: Run) -> list[DiagnosedAnswer]:
    judgements = judged_criteria(home, run.id)
    clusters = clusters_by_sample(home, run.id)
    rows = [row for row in results(home, run.id, as_judged=True) if row.kind == "score" and not row.arm]
    sets = find_values(home, CriteriaSet, (row.criteria_id for row in rows if row.criteria_id))

    def reasons(row: ResultRow) -> tuple[int, ...]:
        if not (row.judgement_id and row.criteria_id):
            return ()
        criteria = sets[row.criteria_id].criteria
        verdicts = zip(criteria, *judgements[row.judgement_id], strict=True)
        return tuple(score for criterion, score, spoken_to in verdicts if spoken_to and not criterion.final)

    return [
        DiagnosedAnswer(
            sample_id=row.sample_id,
            cluster=clusters.get(row.sample_id, row.sample_id),
            model=row.model,
            repeat=row.repeat,
            score=row.score,
            failure=row.failure,
            reasons=reasons(row),
            final=_FINAL_ANSWERS.get(row.verdict, "undecided"),
        )
        for row in rows
    ]
