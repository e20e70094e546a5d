"""How well a tree's groups predict scores, compared with chance, other groupings and baselines (ATOM, table 3)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path

from pydantic import Field

from dokimasia.algorithms.taxonomy import Null, leaves, permutation_null, validity
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.groupings import group_by_words, text_clusters, vector_clusters
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.identity import Value, unit_interval
from dokimasia.errors import InputError, StorageError
from dokimasia.methods.tree.editing import read_mapping
from dokimasia.methods.tree.node_scores import (
    MeasuredRun,
    VersionFacts,
    measured_of,
    resolve_model,
    simulated_models,
    version_facts,
)
from dokimasia.methods.tree.stored_trees import LoadedTree, tree_of_run
from dokimasia.report.fields import Count, Direction
from dokimasia.runs.measures import mean, rounded
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, RunStatus, load_samples
from dokimasia.storage.trees.versions import get_version

BLIND = "#"
"""Separator of model and arm in a displayed name."""

PERMUTATIONS = 200
RESAMPLES = 100
PERCENTILE = 99.0

SIDE = 8
"""Pictures are compared by their colours on a grid with this many fields per side."""

HUES = 12

HANDMADE: dict[str, str] = {
    "image classification": "what kind sort type of picture image photo scene category class genre shown",
    "object recognition": "what object thing item is this named identify recognise called animal vehicle tool",
    "object detection": "where find locate detect visible present absent appears anywhere contains",
    "object counting": "how many count number of total amount several",
    "colour recognition": "colour color red green blue yellow black white orange purple grey shade",
    "shape recognition": "shape circle square triangle rectangle star round form outline",
    "texture and material": "material texture made wood metal glass fabric surface smooth rough",
    "state recognition": "state on off open closed switched selected chosen enabled lit broken full empty",
    "action recognition": "doing action activity holding wearing running sitting standing gesture pose",
    "face and emotion": "face expression emotion feeling mood smile age person looks",
    "text recognition": "text word read written printed says label title letter name spelled",
    "number recognition": "number digit value price date time amount printed reads figure",
    "document structure": "table row column cell form field heading page line entry belongs invoice letter",
    "chart reading": "chart graph bar line axis legend scale plot series slice level value",
    "diagram reading": "diagram arrow connects part circuit flow labelled marked stands for",
    "spatial relation": "left right above below between behind front next position place where relation nearest",
    "depth and size": "larger smaller bigger taller distance near far size length height width",
    "similarity and difference": "same different similar alike compare difference both match pair",
    "sequence and time": "first next last before after order sequence step pattern follows continues",
    "arithmetic": "sum add plus minus subtract difference multiply times divide total result calculate",
    "geometry": "angle area perimeter side degrees triangle theorem radius parallel",
    "general knowledge": "known means law rule custom history symbol country culture science because usually",
    "captioning": "describe description caption answer whole complete sentence summary mentions",
}
"""Traditional tasks of computer vision, with words that indicate them."""

GENERALIST: dict[str, str] = {
    "reading comprehension": "read text passage says states according written",
    "information extraction": "which value find entry name date field number given listed shown",
    "summarisation": "summary main about topic overall purpose gist",
    "instruction following": "answer form format asked complete final only required",
    "arithmetic": "sum add subtract multiply divide difference product total calculate result",
    "algebra and geometry": "angle area side equation unknown theorem solve degrees",
    "statistics": "average mean percent share rate ratio most least chart",
    "logical deduction": "must therefore follows because condition if then rule conclude only",
    "pattern induction": "pattern sequence next continues missing repeats rule series",
    "comparison": "more less greater smaller larger higher lower than most least compare",
    "planning": "step order first then before after plan procedure",
    "causal reasoning": "why cause because effect leads happens result reason",
    "spatial reasoning": "left right above below between position where place direction",
    "temporal reasoning": "when time before after during earlier later date",
    "commonsense": "usually people everyday typical common normally means used",
    "physics": "force light heat energy mass speed law circuit weight balance",
    "biology and chemistry": "animal plant cell acid reaction species body food",
    "history and culture": "history culture country symbol tradition artist style religion",
    "geography": "country city map river region north south",
    "language": "word spelled letter language meaning grammar translate name",
    "visual description": "what object colour shape looks picture shown visible see",
    "counting": "how many count number",
    "social understanding": "who says feels thinks person intention speaker character",
    "creativity": "story humour joke comic imagine creative style poem",
    "truthfulness": "not absent no none true false correct mentioned invents",
    "safety": "harm danger private illegal refuse unsafe",
}
"""General abilities of language models, with words that indicate them."""


@dataclass(frozen=True, slots=True)
class CriteriaGrouping:
    """A grouping of criteria: its name, a description, and the group of each criterion."""

    name: str
    about: str
    group_of: Mapping[str, Hashable]


class ChanceGain(Value):
    """The gain when whole images exchange their leaves."""

    mean: float | None
    p99: float | None = Field(description="99th percentile")
    p_value: float | None = Field(description="null where fewer than 200 exchanges differ")
    reason: str = Field(description="why there is no p-value; else empty")
    exchanged: float


class GainStability(Value):
    """The gain in random halves of the images."""

    halves: Count
    mean: float
    low: float = Field(description="5th percentile")
    high: float = Field(description="95th percentile")
    positive: float = Field(description="share of halves with a gain above 0")
    above_first: float | None = Field(description="share of halves above the first grouping's; null for the first")


class PredictionErrors(Value):
    """Errors when scores are predicted by the other criteria of the leaf and by all others, in points of 0 to 100."""

    mae_intra: float | None = Field(description="the first error: predicted by the others of the leaf")
    mae_global: float | None = Field(description="the second error: predicted by all others")
    delta: float | None = Field(description="the gain, mae_global minus mae_intra; higher is better")
    n: Count
    null: ChanceGain | None
    stability: GainStability | None


class GroupingValidity(Value):
    """How well one grouping of criteria predicts scores; each figure is null without data."""

    name: str
    about: str
    leaves: Count
    grouped: Count = Field(description="its scored criteria")
    published: PredictionErrors = Field(description="each criterion left out alone")
    leave_image_out: PredictionErrors = Field(description="all criteria of its image left out of both predictions")


class ValidityTable(Value):
    """How well several groupings of the same criteria predict scores; the first is the tree under test."""

    models: tuple[str, ...]
    criteria: Count = Field(description="criteria with a score of any model")
    permutations: Count
    resamples: Count
    direction: Direction
    taxonomies: tuple[GroupingValidity, ...]


class ValiditySource(VersionFacts):
    """The version of a tree and the run that a validity is of."""

    run: str
    status: RunStatus
    simulated: tuple[str, ...]
    seed: int


class TreeValidity(ValidityTable, ValiditySource):
    """How well a tree predicts the scores of a run, compared with other groupings (ATOM, table 3)."""


def validity_of(
    home: Home,
    run: Run,
    *,
    tree: str | None = None,
    models: Sequence[str] = (),
    against: Mapping[str, Path] | None = None,
    baselines: bool = True,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> TreeValidity:
    """Return how well a run's tree predicts its scores (ATOM, table 3); equal rows give equal figures.

    Args:
        home: the home.
        run: an evaluation.
        tree: tree or version; by default the run's.
        models: models whose scores are pooled; by default all except arms without the image.
        against: other groupings by name: CSV files of criterion and group.
        baselines: whether to compare with the tree before pruning and with groupings that require no model.
        permutations: number of permutations for the null distribution.
        resamples: number of random halves of the samples for the stability.
        seed: seed; by default the run's.

    Raises:
        NotFound: there is no such tree or model.
        DataError: a file cannot be read.
        InputError: no criterion of the tree has a score.
    """
    loaded, measured = tree_of_run(home, run, tree), measured_of(home, run)
    model_names = [resolve_model(measured, name, run) for name in models]
    if not model_names:
        model_names = [name for name in sorted(measured.scores) if BLIND not in name]
    mapping = leaf_mapping(loaded.tree)
    if not any(mapping.keys() & measured.scores.get(name, {}).keys() for name in model_names):
        raise InputError(
            f"run {run.id} has no score of any criterion that {loaded.name} holds: name another tree with --tree"
        )
    used_seed = run.seed if seed is None else seed
    groupings = [CriteriaGrouping("tree", f"the capability tree {loaded.name}", mapping)]
    if baselines:
        groupings += _unpruned(home, loaded)
        groupings += _baselines(home, run, loaded, measured, seed=used_seed)
    for name, path in (against or {}).items():
        group_of = {criterion: group for criterion, group in read_mapping(path).items() if group is not None}
        groupings.append(CriteriaGrouping(name, f"read from {path.name}", group_of))
    table = validity_table(
        groupings, measured, models=model_names, seed=used_seed, permutations=permutations, resamples=resamples
    )
    return TreeValidity(
        **version_facts(loaded),
        run=run.id,
        status=run.status,
        simulated=tuple(simulated_models(run)),
        seed=used_seed,
        **dict(table),
    )


def validity_table(
    groupings: Sequence[CriteriaGrouping],
    measured: MeasuredRun,
    *,
    models: Sequence[str],
    seed: int,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
) -> ValidityTable:
    """Return the validity of several groupings of the same criteria.

    Args:
        groupings: the tree under test, then its baselines.
        measured: the scores.
        models: models whose scores are pooled.
        seed: seed of permutations and resamples.
        permutations: number of permutations for the null distribution, at least 1.
        resamples: number of random halves of the images for the stability; 0 for none.
    """
    scores = {name: measured.scores[name] for name in models if measured.scores.get(name)}
    scored_criteria = set[str]().union(*scores.values())
    clusters = sorted(set(measured.cluster_of.values()))
    halves: list[set[str]] = []
    for number in range(resamples):
        half = _half(clusters, seed, number)
        halves.append({criterion for criterion in scored_criteria if measured.cluster_of.get(criterion) in half})
    first: dict[bool, list[float | None]] = {}
    rows: list[GroupingValidity] = []
    for grouping in groupings:
        group_of = {criterion: group for criterion, group in grouping.group_of.items() if criterion in scored_criteria}
        figures: dict[bool, PredictionErrors] = {}
        for leave_out in (False, True):
            cluster_of = measured.cluster_of if leave_out else None
            deltas: list[float | None] = []
            for half in halves:
                part = {criterion: group for criterion, group in group_of.items() if criterion in half}
                deltas.append(validity(scores, part, cluster_of).delta)
            figures[leave_out] = _errors(
                scores,
                group_of,
                measured.cluster_of,
                leave_out=leave_out,
                permutations=permutations,
                seed=seed,
                stability=_stability(deltas, first.get(leave_out)),
            )
            first.setdefault(leave_out, deltas)
        row = GroupingValidity(
            name=grouping.name,
            about=grouping.about,
            leaves=len(set(group_of.values())),
            grouped=len(group_of),
            published=figures[False],
            leave_image_out=figures[True],
        )
        rows.append(row)
    return ValidityTable(
        models=tuple(sorted(scores)),
        criteria=len(scored_criteria),
        permutations=permutations,
        resamples=resamples,
        direction=DIRECTION,
        taxonomies=tuple(rows),
    )


def _half(clusters: Sequence[str], seed: int, number: int) -> set[str]:
    """Return a random half of the clusters; each cluster is drawn independently of the others."""
    ranked = sorted(clusters, key=lambda cluster: (unit_interval("validity", seed, number, cluster), cluster))
    return set(ranked[: (len(ranked) + 1) // 2])


def _errors(
    scores: Mapping[str, Mapping[str, float]],
    group_of: Mapping[str, Hashable],
    cluster_of: Mapping[str, str],
    *,
    leave_out: bool,
    permutations: int,
    seed: int,
    stability: GainStability | None,
) -> PredictionErrors:
    errors = validity(scores, group_of, cluster_of if leave_out else None)
    chance = None
    if errors.delta is not None:
        null = permutation_null(
            scores, group_of, cluster_of, leave_cluster_out=leave_out, permutations=permutations, seed=seed
        )
        chance = _chance(null)
    return PredictionErrors(
        mae_intra=rounded(errors.mae_intra),
        mae_global=rounded(errors.mae_global),
        delta=rounded(errors.delta),
        n=errors.n,
        null=chance,
        stability=stability,
    )


def _chance(null: Null) -> ChanceGain:
    finite = [delta for delta in null.deltas if delta > float("-inf")]
    return ChanceGain(
        mean=mean(finite),
        p99=rounded(null.percentile(PERCENTILE)) if finite else None,
        p_value=rounded(null.p_value),
        reason=null.reason,
        exchanged=rounded(null.exchanged),
    )


def _stability(deltas: Sequence[float | None], first: Sequence[float | None] | None) -> GainStability | None:
    values = sorted(delta for delta in deltas if delta is not None)
    if not values:
        return None
    positive: list[bool] = []
    for delta, first_delta in zip(deltas, first or (), strict=False):
        if delta is not None and first_delta is not None:
            positive.append(delta > first_delta)
    last = len(values) - 1
    return GainStability(
        halves=len(values),
        mean=rounded(sum(values) / len(values)),
        low=rounded(values[round(0.05 * last)]),
        high=rounded(values[round(0.95 * last)]),
        positive=rounded(sum(delta > 0 for delta in values) / len(values)),
        above_first=mean(positive),
    )


def _unpruned(home: Home, loaded: LoadedTree) -> list[CriteriaGrouping]:
    """Return the version before the last pruning, if there is one and its criteria are mapped."""
    version, pruned = loaded.version, False
    while True:
        prunes = any(edit.kind == "prune" for edit in version.edits)
        if pruned and not prunes and any(node.members for node in version.nodes):
            return [
                CriteriaGrouping("unpruned", "the tree before it was last pruned", leaf_mapping(from_version(version)))
            ]
        if version.before is None:
            return []
        pruned = pruned or prunes
        version = get_version(home, version.before)


def _baselines(home: Home, run: Run, loaded: LoadedTree, measured: MeasuredRun, *, seed: int) -> list[CriteriaGrouping]:
    texts: dict[str, str] = {}
    for key, criterion in loaded.criteria.items():
        if key in measured.sample_of:
            texts[key] = f"{criterion.text} {criterion.ground_truth}"
    labels: dict[str, str] = {}
    pictures: dict[str, tuple[float, ...]] = {}
    features = cache(partial(_features, home))
    for sample in load_samples(home, run.id):
        if sample.category:
            labels[sample.id] = sample.category
        picture = features(sample.images[0].sha256) if sample.images else None
        if picture is not None:
            pictures[sample.id] = picture
    return baseline_groupings(
        texts, measured.sample_of, leaves=len(leaves(loaded.tree)), seed=seed, labels=labels, pictures=pictures
    )


def _features(home: Home, sha256: str) -> tuple[float, ...] | None:
    try:
        return picture_features(home.blobs.get(sha256))
    except StorageError:
        return None


def baseline_groupings(
    texts: Mapping[str, str],
    sample_of: Mapping[str, str],
    *,
    leaves: int,
    seed: int,
    labels: Mapping[str, str] | None = None,
    pictures: Mapping[str, tuple[float, ...]] | None = None,
) -> list[CriteriaGrouping]:
    """Return the baselines of Table 3 for which there are data.

    The published baselines are trees that the authors made for their own data; these are the same kinds for any data.
    The two fixed lists place a criterion by the words that it shares with a group. A judge would place them better, so
    their weakness says little; to compare a judge's mapping to a fixed list, pass it as a file.

    Args:
        texts: question and ground truth by criterion.
        sample_of: sample of each criterion.
        leaves: number of clusters; the tree's number of leaves.
        seed: seed of the clustering.
        labels: the data set's own category by sample.
        pictures: result of `picture_features` by sample.
    """
    groupings = [
        CriteriaGrouping("hand-made", "fixed list of vision tasks, placed by words", group_by_words(texts, HANDMADE)),
        CriteriaGrouping(
            "generalist", "fixed list of general abilities, placed by words", group_by_words(texts, GENERALIST)
        ),
    ]
    clusters = vector_clusters(pictures or {}, max(1, leaves), seed=seed)
    if len(set(clusters.values())) > 1:
        by_picture = {criterion: clusters[sample] for criterion, sample in sample_of.items() if sample in clusters}
        groupings.append(CriteriaGrouping("visual", "clusters of the images by colour and layout", by_picture))
    groupings.append(
        CriteriaGrouping(
            "data-blind", "clusters of the criteria's words alone", text_clusters(texts, max(1, leaves), seed=seed)
        )
    )
    labels = labels or {}
    by_label = {criterion: labels[sample] for criterion, sample in sample_of.items() if sample in labels}
    if by_label:
        groupings.append(CriteriaGrouping("labels", "the data set's own categories", by_label))
    return groupings


def picture_features(data: bytes) -> tuple[float, ...] | None:
    """Return coarse features of an image: mean colours on a grid, and a histogram of hues.

    Args:
        data: an image file.

    Returns:
        8 x 8 x 3 colours and 12 shares of hues, each 0 to 1; None if the image cannot be read.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as opened:
            small = opened.convert("RGB").resize((SIDE * 4, SIDE * 4), Image.Resampling.BOX)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    grid = small.resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()
    hsv = small.convert("HSV").tobytes()
    hues = [0.0] * HUES
    for pixel in range(0, len(hsv), 3):
        hues[hsv[pixel] * HUES // 256] += hsv[pixel + 1] / 255
    pixels = len(hsv) / 3
    return (*(value / 255 for value in grid), *(weight / pixels for weight in hues))
