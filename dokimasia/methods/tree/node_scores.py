# pyright: standard
# networkx has no types; values read from a tree are typed right away.
"""A run's scores at the nodes of a capability tree, and the nodes where a model is weak or strong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from dokimasia.algorithms.scoring import normalise
from dokimasia.algorithms.statistics import bootstrap_interval, clopper_pearson
from dokimasia.algorithms.taxonomy import Tree, attributes_of, categories_of
from dokimasia.algorithms.trees.places import in_order, members_below, place_of
from dokimasia.algorithms.trees.weakness import NodeFinding, Verdict, evident_nodes, node_findings, roll_up
from dokimasia.domain.capability import ROOT
from dokimasia.domain.growth import Phase
from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.methods.tree.stored_trees import (
    LoadedTree,
    evaluation_of,
    find_tree_of_run,
    load_stored,
    load_tree,
    source_run,
    tree_of_run,
)
from dokimasia.report.fields import Bounds, Counts, IntervalMethod, NoInterval, as_json
from dokimasia.report.figures import share
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name, simulated_names
from dokimasia.runs.measures import limits, rounded
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, RunStatus, clusters_by_sample, judgement_scores
from dokimasia.storage.trees.lookup import criteria_counts, criterion_key

LEVEL = 0.95
WORST, BEST = 0.0, 100.0
"""Ends of the scale of criteria's scores here: (s - 1) / 4 x 100."""

LIMIT = 0.05
"""The permitted share of false findings among all weak and strong nodes."""

MIN_SUPPORT = 5
SOLVED = 75.0
"""Lowest score of a solved criterion, 4 of 5."""

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run's scores by criterion.

    Attributes:
        scores: score by displayed model name and criterion, 0 to 100, the mean over the scored repeats.
        failures: kind of failure by model and criterion, for criteria without any score.
        sample_of: sample of each criterion.
        cluster_of: cluster of each criterion; samples that share an image share a cluster. By default each sample is
            its own cluster.
    """

    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    failures: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    sample_of: Mapping[str, str] = field(default_factory=dict[str, str])
    cluster_of: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster_of", self.cluster_of or self.sample_of)

    def clusters(self, criteria: Sequence[str]) -> list[str]:
        """Return the cluster of each criterion."""
        return [self.cluster_of.get(criterion, criterion) for criterion in criteria]


class CriteriaTally(Value):
    """A model's scores on some criteria.

    `held` is the number of criteria that the run asked about, `n` the number with a score, `mean` their mean (0 to 100;
    null without a score), and `bounds` the mean if those without a score had 0 and 100 (null if nothing was asked).
    """

    n: int
    held: int
    samples: int
    mean: float | None
    bounds: Bounds | None
    failures: dict[str, int]


class NodeScore(CriteriaTally):
    """A model's mean score at a node, with its 95 % bootstrap interval clustered by images."""

    low: float | None
    high: float | None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class TreeNode(Value):
    """A node: the criteria that it holds itself (`support`), at and below it (`below`), and nodes folded into it (`absorbed`)."""

    id: str
    layer: int
    name: str
    parent: str | None
    support: int
    below: int
    absorbed: int
    scores: dict[str, NodeScore | None]


class TreeCounts(Value):
    """The numbers of nodes by layer, and of criteria."""

    categories: int
    parents: int
    capabilities: int
    criteria: int


class TreeView(Value):
    """A tree as figures; `nodes` from the root down."""

    categories: tuple[str, ...]
    counts: TreeCounts
    models: tuple[str, ...]
    nodes: tuple[TreeNode, ...]


class CriterionExample(Value):
    """A criterion at a node, with the model's score, 0 to 100."""

    criterion: str
    sample: str
    score: float
    text: str | None = None


class WeaknessFinding(NodeScore):
    """A node that differs from the rest; `difference` is the mean there minus the mean elsewhere, in points."""

    node: str
    name: str
    layer: int
    difference: float
    p_value: float | None
    q_value: float | None
    examples: tuple[CriterionExample, ...]


class ModelFindings(Value):
    """Where a model is weak and strong, the lowest mean first (of strong nodes the highest).

    `reason` says why no node has a p-value; else it is empty. `exchanged` is the share of the scored criteria that the test
    can move: those of an image whose number of criteria no other image has keep their leaves. It is left out where it is 1.
    """

    method: Literal["fdr"]
    limit: float
    level: float
    min_support: int
    overall: CriteriaTally
    looked_at: int
    reason: str
    exchanged: float = 1.0
    weak: tuple[WeaknessFinding, ...]
    strong: tuple[WeaknessFinding, ...]
    unclear: tuple[WeaknessFinding, ...]
    untested: tuple[WeaknessFinding, ...]

    @property
    def kept_leaves(self) -> str:
        """A sentence on the criteria that the test of the nodes cannot exchange; empty if it exchanges all of them."""
        if self.reason:
            return ""
        return kept_leaves(self.exchanged)


def kept_leaves(exchanged: float) -> str:
    """Return a sentence on the share of criteria whose leaves cannot be exchanged; empty if all can be."""
    if exchanged >= 1:
        return ""
    return (
        f"{share(1 - exchanged).text} of the criteria belong to images whose number of criteria no other image has. "
        "The test exchanges leaves between images with equal numbers, so these keep theirs, and a weakness that shows in "
        "them alone is not found."
    )


class EvidentFinding(CriteriaTally):
    """A node whose share of solved criteria is significantly off the threshold, with the interval of the share."""

    node: str
    name: str
    layer: int
    solved: int
    share: float
    low: float | None
    high: float | None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    examples: tuple[CriterionExample, ...]


class SolvedTally(CriteriaTally):
    """A model's scores on all criteria, and the number of solved ones."""

    solved: int


class EvidentFindings(Value):
    """EvalTree's weak and strong nodes; `threshold` is a share of solved criteria."""

    method: Literal["evaltree"]
    threshold: float
    threshold_given: bool
    level: float
    solved_from: float
    overall: SolvedTally
    looked_at: int
    weak: tuple[EvidentFinding, ...]
    strong: tuple[EvidentFinding, ...]


class ReportedTree(TreeView):
    """A run's tree as its page has it: its scores, each model's findings, and the texts of some criteria at each node."""

    tree: str
    version: int
    unplaced: dict[str, int]
    findings: dict[str, ModelFindings]
    examples: dict[str, tuple[str, ...]]


class VersionFacts(Value):
    """The version of a tree that figures are of."""

    tree: str
    position: int
    version: str
    phase: Phase
    unplaced: Counts = Field(description="criteria without a leaf, by kind of failure")


class ScoredVersion(VersionFacts):
    """A version of a tree, and the run whose scores are shown on it."""

    run: str | None = Field(description="null without scores")
    simulated: tuple[str, ...] = Field(description="simulated models of the run")


class ScoredTree(TreeView, ScoredVersion):
    """A version of a tree with models' scores."""


class WeaknessSource(VersionFacts):
    """The version of a tree, the run and the model that findings are of."""

    run: str
    status: RunStatus
    model: str
    simulated: tuple[str, ...]
    seed: int


class ModelWeaknesses(ModelFindings, WeaknessSource):
    """Where a model of a run is weak and strong on a tree."""


class EvidentWeaknesses(EvidentFindings, WeaknessSource):
    """Where a model of a run is weak and strong on a tree, by EvalTree's method."""


def measured_of(home: Home, run: Run, *, as_judged: bool = False) -> MeasuredRun:
    """Return each model's score on each criterion, 0 to 100, the mean over scored repeats.

    A criterion without a score in any repeat is listed with the kind of its first failure; samples without criteria are
    left out. A set of criteria shared by several samples counts for the first sample by name. Corrections by hand are
    applied, unless `as_judged`.
    """
    scores_by_judgement = judgement_scores(home, run.id)
    sizes = criteria_counts(home, run.id)
    values: dict[str, dict[str, list[float]]] = {}
    first_failures: dict[str, dict[str, str]] = {}
    sample_of: dict[str, str] = {}
    for row in results(home, run.id, as_judged=as_judged):
        if row.kind != "score" or not row.criteria_id:
            continue
        name = shown_name(row.model, row.arm)
        scores = scores_by_judgement.get(row.judgement_id or "", ())
        for number in range(1, sizes.get(row.criteria_id, 0) + 1):
            key = criterion_key(row.criteria_id, number)
            sample_of[key] = min(sample_of.get(key, row.sample_id), row.sample_id)
            if row.failure is not None or len(scores) < number:
                first_failures.setdefault(name, {}).setdefault(key, row.failure or "unparsable")
            else:
                values.setdefault(name, {}).setdefault(key, []).append(normalise(scores[number - 1]))
    means: dict[str, dict[str, float]] = {}
    for name, by_key in values.items():
        means[name] = {key: sum(scores) / len(scores) for key, scores in by_key.items()}
    failures: dict[str, dict[str, str]] = {}
    for name, kinds in first_failures.items():
        own_scores = means.get(name, {})
        failures[name] = {key: kind for key, kind in kinds.items() if key not in own_scores}
    clusters = clusters_by_sample(home, run.id)
    cluster_of = {key: clusters.get(sample) or sample for key, sample in sample_of.items()}
    return MeasuredRun(scores=means, failures=failures, sample_of=sample_of, cluster_of=cluster_of)


def tree_view(
    tree: Tree, measured: MeasuredRun | None = None, *, models: Sequence[str] = (), seed: int = 0
) -> TreeView:
    """Return the figures of a tree; equal trees and scores give equal figures.

    Args:
        tree: a capability tree.
        measured: the scores; without them, nodes have no scores.
        models: the models to show; a model without results has None at every node.
        seed: seed of the intervals.
    """
    members = members_below(tree)
    nodes: list[TreeNode] = []
    for node in in_order(tree):
        place, attributes = place_of(node), attributes_of(tree, node)
        scores: dict[str, NodeScore | None] = {}
        if measured is not None:
            scores = {model: _node_score(measured, model, members[node], seed) for model in models}
        nodes.append(
            TreeNode(
                id=node,
                layer=place.layer,
                name=place.name,
                parent=place.parent,
                support=attributes.support,
                below=len(members[node]),
                absorbed=len(attributes.absorbed),
                scores=scores,
            )
        )
    layers = Counter(node.layer for node in nodes)
    return TreeView(
        categories=categories_of(tree),
        counts=TreeCounts(categories=layers[1], parents=layers[2], capabilities=layers[3], criteria=len(members[ROOT])),
        models=tuple(models),
        nodes=tuple(nodes),
    )


def tally(measured: MeasuredRun, model: str, criteria: Sequence[str]) -> CriteriaTally:
    """Return the number of a model's scores on the criteria, their mean and bounds, and its failures."""
    scores, failures = measured.scores.get(model, {}), measured.failures.get(model, {})
    scored_criteria = [criterion for criterion in criteria if criterion in scores]
    kinds = sorted(failures[criterion] for criterion in criteria if criterion in failures and criterion not in scores)
    n_asked, total = len(scored_criteria) + len(kinds), sum(scores[criterion] for criterion in scored_criteria)
    bounds = None
    if n_asked:
        low, high = total + WORST * len(kinds), total + BEST * len(kinds)
        bounds = Bounds(low=rounded(low / n_asked), high=rounded(high / n_asked))
    return CriteriaTally(
        n=len(scored_criteria),
        held=n_asked,
        samples=len({measured.sample_of.get(criterion, criterion) for criterion in scored_criteria}),
        mean=rounded(total / len(scored_criteria)) if scored_criteria else None,
        bounds=bounds,
        failures=dict(Counter(kinds)),
    )


def _node_score(measured: MeasuredRun, model: str, criteria: Sequence[str], seed: int) -> NodeScore | None:
    counts = tally(measured, model, criteria)
    if not counts.held:
        return None
    if not counts.n:
        return NodeScore(**dict(counts), low=None, high=None)
    scores = measured.scores[model]
    scored_criteria = [criterion for criterion in criteria if criterion in scores]
    values = [scores[criterion] for criterion in scored_criteria]
    clusters = measured.clusters(scored_criteria)
    interval = bootstrap_interval(values, clusters=clusters, level=LEVEL, seed=seed, bounds=(WORST, BEST))
    return NodeScore(**dict(counts), **limits(interval))


def model_findings(
    tree: Tree,
    measured: MeasuredRun,
    model: str,
    *,
    seed: int,
    min_support: int = MIN_SUPPORT,
    limit: float = LIMIT,
    examples: int = EXAMPLES,
    texts: Mapping[str, str] | None = None,
) -> ModelFindings:
    """Return the nodes at which a model is weaker or stronger than elsewhere.

    Args:
        tree: a capability tree whose criteria are mapped.
        measured: the scores.
        model: the model's displayed name.
        seed: seed of permutations and intervals.
        min_support: nodes with fewer scored criteria are not tested.
        limit: the permitted share of false findings (Benjamini-Hochberg over all tested nodes).
        examples: number of criteria listed for each node: the lowest-scoring ones of weak nodes, the highest-scoring
            ones of strong nodes.
        texts: text by criterion, for the examples.
    """
    scores = measured.scores.get(model, {})
    members = members_below(tree)
    findings = node_findings(
        tree, scores, measured.cluster_of, seed=seed, min_support=min_support, limit=limit, bounds=(WORST, BEST)
    )

    def shown(finding: NodeFinding) -> WeaknessFinding:
        place, criteria = place_of(finding.node), members[finding.node]
        return WeaknessFinding(
            node=finding.node,
            name=place.name,
            layer=place.layer,
            **dict(tally(measured, model, criteria)),
            **limits(finding.interval),
            difference=rounded(finding.difference),
            p_value=rounded(finding.p_value),
            q_value=rounded(finding.q_value),
            examples=_examples(measured, model, criteria, examples, texts, highest=finding.verdict == "strong"),
        )

    def listed(verdict: Verdict) -> tuple[WeaknessFinding, ...]:
        return tuple(shown(finding) for finding in findings if finding.verdict == verdict)

    return ModelFindings(
        method="fdr",
        limit=limit,
        level=LEVEL,
        min_support=min_support,
        overall=tally(measured, model, members[ROOT]),
        looked_at=len(findings),
        reason=next((finding.reason for finding in findings if finding.reason), ""),
        exchanged=rounded(findings[0].exchanged) if findings else 1.0,
        weak=listed("weak"),
        strong=listed("strong")[::-1],
        unclear=listed("unclear"),
        untested=listed("untested"),
    )


def evident_findings(
    tree: Tree,
    measured: MeasuredRun,
    model: str,
    *,
    threshold: float | None = None,
    examples: int = EXAMPLES,
    texts: Mapping[str, str] | None = None,
) -> EvidentFindings:
    """Return EvalTree's weak and strong nodes: the deepest whose share of solved criteria differs from a threshold.

    As published, trials count as independent and there is no correction for multiple tests.

    Args:
        tree: a capability tree whose criteria are mapped.
        measured: the scores; a criterion counts as solved from 75 of 100 (4 of 5) on.
        model: the model's displayed name.
        threshold: a share, 0 to 1; by default the model's own share of solved criteria.
        examples: as `model_findings`.
        texts: as `model_findings`.
    """
    members = members_below(tree)
    solved = {criterion: score >= SOLVED for criterion, score in measured.scores.get(model, {}).items()}
    totals = roll_up(tree, {criterion: float(hit) for criterion, hit in solved.items()})
    overall = totals[ROOT]
    share = threshold if threshold is not None else (overall.mean or 0.0)

    def finding(node: str, *, highest: bool) -> EvidentFinding:
        n, total = totals[node]
        place = place_of(node)
        return EvidentFinding(
            node=node,
            name=place.name,
            layer=place.layer,
            **dict(tally(measured, model, members[node])),
            solved=round(total),
            share=rounded(total / n),
            **limits(clopper_pearson(round(total), n, LEVEL)),
            examples=_examples(measured, model, members[node], examples, texts, highest=highest),
        )

    weak = [finding(node, highest=False) for node in evident_nodes(tree, solved, share, side="below", level=LEVEL)]
    strong = [finding(node, highest=True) for node in evident_nodes(tree, solved, share, side="above", level=LEVEL)]
    return EvidentFindings(
        method="evaltree",
        threshold=rounded(share),
        threshold_given=threshold is not None,
        level=LEVEL,
        solved_from=SOLVED,
        overall=SolvedTally(**dict(tally(measured, model, members[ROOT])), solved=round(overall.total)),
        looked_at=sum(1 for total in totals.values() if total.n),
        weak=tuple(sorted(weak, key=lambda finding: (finding.share, finding.node))),
        strong=tuple(sorted(strong, key=lambda finding: (-finding.share, finding.node))),
    )


def _examples(
    measured: MeasuredRun,
    model: str,
    criteria: Sequence[str],
    most: int,
    texts: Mapping[str, str] | None,
    *,
    highest: bool,
) -> tuple[CriterionExample, ...]:
    """Return the criteria with the lowest or highest scores, preferring different samples."""
    scores = measured.scores.get(model, {})
    sign = -1 if highest else 1
    ranked = sorted(
        (criterion for criterion in criteria if criterion in scores), key=lambda key: (sign * scores[key], key)
    )
    first_of_sample: dict[str, str] = {}
    for criterion in ranked:
        first_of_sample.setdefault(measured.sample_of.get(criterion, criterion), criterion)
    examples: list[CriterionExample] = []
    for sample, criterion in list(first_of_sample.items())[:most]:
        text = None if texts is None else texts.get(criterion, "")
        examples.append(
            CriterionExample(criterion=criterion, sample=sample, score=rounded(scores[criterion]), text=text)
        )
    return tuple(examples)


def tree_figures(
    home: Home, text: str, *, version: str | None = None, run: str | None = None, models: Sequence[str] = ()
) -> ScoredTree:
    """Return a tree with models' scores at its nodes.

    Args:
        home: the home with the tree.
        text: the tree, as in `load_tree`.
        version: another version of the same tree.
        run: the run whose scores to show; by default the one that the tree was grown from, if it exists.
        models: the models to show; by default all models of the run.

    Raises:
        NotFound: there is no such tree, version, run or model.
    """
    loaded = load_tree(home, text, version=version)
    evaluation = evaluation_of(home, run)[0] if run is not None else source_run(home, loaded.stored.tree)
    if evaluation is None:
        if models:
            raise NotFound(f"the tree {loaded.stored.tree!r} was grown from no run of this home: name one with --run")
        return ScoredTree(**version_facts(loaded), run=None, simulated=(), **dict(tree_view(loaded.tree)))
    measured = measured_of(home, evaluation)
    model_names = [resolve_model(measured, name, evaluation) for name in models] or sorted(measured.scores)
    return ScoredTree(
        **version_facts(loaded),
        run=evaluation.id,
        simulated=tuple(simulated_models(evaluation)),
        **dict(tree_view(loaded.tree, measured, models=model_names, seed=evaluation.seed)),
    )


def weaknesses_of(
    home: Home,
    run: Run,
    model: str,
    *,
    tree: str | None = None,
    min_support: int = MIN_SUPPORT,
    limit: float = LIMIT,
    examples: int = EXAMPLES,
    seed: int | None = None,
) -> ModelWeaknesses:
    """Return the weak and strong nodes of a model; equal rows give equal figures.

    Args:
        home: the home with run and tree.
        run: an evaluation.
        model: the model's displayed name.
        tree: tree or version; by default the run's.
        min_support: smallest number of scored criteria of a tested node.
        limit: permitted share of false findings.
        examples: number of criteria listed for each node, with their texts.
        seed: seed of permutations and intervals; by default the run's.

    Raises:
        NotFound: there is no such tree or model.
    """
    loaded, measured = tree_of_run(home, run, tree), measured_of(home, run)
    source = _weakness_source(loaded, measured, run, model, seed)
    findings = model_findings(
        loaded.tree,
        measured,
        source.model,
        seed=source.seed,
        min_support=min_support,
        limit=limit,
        examples=examples,
        texts=loaded.texts,
    )
    return ModelWeaknesses(**dict(source), **dict(findings))


def evident_weaknesses_of(
    home: Home,
    run: Run,
    model: str,
    *,
    tree: str | None = None,
    threshold: float | None = None,
    examples: int = EXAMPLES,
    seed: int | None = None,
) -> EvidentWeaknesses:
    """Return the weak and strong nodes of a model by EvalTree's method.

    Args:
        home: as `weaknesses_of`.
        run: as `weaknesses_of`.
        model: as `weaknesses_of`.
        tree: as `weaknesses_of`.
        threshold: a share of solved criteria; by default the model's own.
        examples: as `weaknesses_of`.
        seed: recorded in the figures; nothing is drawn at random.

    Raises:
        NotFound: there is no such tree or model.
    """
    loaded, measured = tree_of_run(home, run, tree), measured_of(home, run)
    source = _weakness_source(loaded, measured, run, model, seed)
    findings = evident_findings(
        loaded.tree, measured, source.model, threshold=threshold, examples=examples, texts=loaded.texts
    )
    return EvidentWeaknesses(**dict(source), **dict(findings))


def _weakness_source(
    loaded: LoadedTree, measured: MeasuredRun, run: Run, model: str, seed: int | None
) -> WeaknessSource:
    return WeaknessSource(
        **version_facts(loaded),
        run=run.id,
        status=run.status,
        model=resolve_model(measured, model, run),
        simulated=tuple(simulated_models(run)),
        seed=run.seed if seed is None else seed,
    )


def report_tree(home: Home, run: Run) -> dict[str, Any] | None:
    """Return the `ReportedTree` of a run as plain JSON; None if its criteria are mapped to no tree."""
    tree = find_tree_of_run(home, run)
    if tree is None:
        return None
    loaded, measured = load_stored(home, tree), measured_of(home, run)
    models = sorted(measured.scores)
    examples: dict[str, tuple[str, ...]] = {}
    for node, criteria in members_below(loaded.tree).items():
        examples[node] = tuple(loaded.criteria[key].text for key in criteria[:EXAMPLES] if key in loaded.criteria)
    reported = ReportedTree(
        tree=loaded.stored.tree,
        version=loaded.stored.position,
        unplaced=loaded.unplaced,
        **dict(tree_view(loaded.tree, measured, models=models, seed=run.seed)),
        findings={model: model_findings(loaded.tree, measured, model, seed=run.seed) for model in models},
        examples=examples,
    )
    return as_json(reported)


def simulated_models(run: Run) -> list[str]:
    """Return the names of a run's simulated models."""
    return simulated_names(method_of(run).read(run)[0].models.values())


def version_facts(loaded: LoadedTree) -> dict[str, Any]:
    """Return the name, position and id of a tree version, for figures about it."""
    return {
        "tree": loaded.stored.tree,
        "position": loaded.stored.position,
        "version": loaded.stored.id,
        "phase": loaded.stored.phase,
        "unplaced": loaded.unplaced,
    }


def resolve_model(measured: MeasuredRun, model: str, run: Run) -> str:
    """Return the displayed name of the model that a text refers to by its full name or the last part of it.

    Raises:
        NotFound: the run has no scores of such a model.
    """
    if model in measured.scores or model in measured.failures:
        return model
    names = sorted({*measured.scores, *measured.failures})
    matches = [name for name in names if name.rpartition("/")[2] == model]
    if len(matches) == 1:
        return matches[0]
    raise NotFound(f"run {run.id} has no scores of {model!r}; it has those of {', '.join(names) or 'no model'}")
