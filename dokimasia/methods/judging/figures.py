"""The figures of a comparison of judging methods: which pairs of responses judges and people order alike (ATOM, 4.1 and table 1).

Shares are 0 to 1, differences in points of 100.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor, log10
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from dokimasia.algorithms.margins import CrossFit, Sides, cross_fitted, fold_of, sides
from dokimasia.algorithms.orders import beaten, earlier_preferred
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.places import mapping_of
from dokimasia.domain.capability import ROOT, CapabilityPath
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FailureKind
from dokimasia.domain.judging.judgements import BatchRanking, HumanRanking, HumanRankings
from dokimasia.domain.options import Protocol
from dokimasia.methods.judging.request import (
    RESTS_ON,
    JudgingPlan,
    JudgingUnit,
    all_units,
    basis_item,
    ranked_models,
    source_of,
)
from dokimasia.people.judgements import BesidePeople, HumanCeiling, ReplacementTest, beside_people
from dokimasia.report.blocks import Cell, Span
from dokimasia.report.fields import (
    Count,
    Coverage,
    Direction,
    Display,
    Failures,
    Fraction,
    Interval,
    LeftOpen,
    Share,
    Used,
)
from dokimasia.report.figures import NOTHING, count, measured, percent_bracketed, share
from dokimasia.report.figures import p_value as write_p
from dokimasia.runs.figure_models import DataFigures
from dokimasia.runs.figures import grouped, heading, ordered_rows
from dokimasia.runs.measures import (
    failure_fields,
    paired_difference,
    rounded,
    share_of_hits,
    used_by_calls,
    with_adjusted,
)
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, clusters_by_sample, load_samples
from dokimasia.storage.trees.versions import get_version, resolve_tree, tree_criteria

POINTS = 100.0
"""Differences are in points, 100 for all pairs."""

MARGIN_DIGITS = 2

COLUMNS: dict[str, ColumnType] = {"judge": "text", "method": "text", "draw": "integer", "ranks": "texts"}
"""Columns of a judgement in an export; `ranks` are those of a batch, as `model: place`, in displayed order."""

Scores = Mapping[tuple[str, str], float]
"""A judge's scores by a method, by sample and model; higher is better. Failed judgements are missing."""

PValue = Annotated[Fraction | None, Field(description="two-sided sign flips of whole images; null without a test")]
Tokens = Annotated[Count | None, Field(description="null where any call's is unknown")]


def percent_share(figure: Share | None, pointer: str) -> Cell:
    """Return a share in percent, with its interval."""
    if figure is None or figure.share is None:
        return NOTHING
    limits = percent_bracketed(figure).replace(" ", "\u00a0")
    return (Span(f"{100 * figure.share:.1f}", "strong", f"{pointer}/share", figure.share), Span(limits, "muted"))


def _margins(margins: Sequence[float], pointer: str) -> Cell:
    return ", ".join(f"{margin:.{MARGIN_DIGITS}f}" for margin in margins)


def _per_point(figure: "PerPoint | None", pointer: str) -> Cell:
    """Return usage per point of accuracy, with enough digits to be informative."""
    if figure is None:
        return NOTHING
    digits = 2 if figure.mean >= 1 else 4
    least = figure.mean or figure.low or 0
    if 0 < least < 1e-4:  # Four digits would show nothing.
        digits = 1 - floor(log10(least))
    return measured(Interval.model_construct(**dict(figure)), pointer, digits=digits, ends=digits)


class Rankings(Value):
    """Counts of people's rankings."""

    annotators: Count
    samples: Count = Field(description="samples of which somebody ranked two responses or more")
    without: Count = Field(description="samples of the data that nobody ranked so, which are not judged")
    models: tuple[str, ...] = Field(description="whose responses are judged")
    comparisons: Count = Field(description="pairs of responses to a sample, one for each annotator that ranked both")
    pairs: Count = Field(description="of these the different ones")
    ties: Fraction = Field(description="share of the comparisons that are a tie to the annotator")
    folds: Count = Field(description="parts into which the images are drawn, for the margin of ties")


class PeopleAgreement(Value):
    """How often two people agree on a pair that both ranked."""

    accuracy: Share
    by_category: dict[str, Share]


class PerPoint(Value):
    """Usage per point of accuracy, with the interval that follows from that of the accuracy."""

    mean: float
    low: float | None
    high: float | None
    no_interval: str | None = None


class PerPoints(Value):
    """Calls and US dollars per point of accuracy; null if unknown, or if nothing agrees."""

    calls: Annotated[PerPoint | None, Display("calls a point", write=_per_point)]
    cost: Annotated[
        PerPoint | None, Display("cost a point", "of accuracy, in percent; with the interval", write=_per_point)
    ]


class MethodAgreement(Value):
    """The agreement of one judge and method with people's rankings of responses."""

    accuracy: Annotated[Share, Display("accuracy", write=percent_share)] = Field(
        description="comparisons whose win, tie or loss agrees, the margin of ties fitted on other images"
    )
    by_category: dict[str, Share]
    coverage: Annotated[Coverage, Display("judged", write=share)]
    margins: Annotated[tuple[float, ...], Display("margins", numeric=False, write=_margins)] = Field(
        description="of each fold, as fitted on all others, in the method's unit"
    )
    unfitted: Annotated[Share, Display("with equal scores alone", write=percent_share)] = Field(
        description="the same where only equal scores are a tie"
    )
    ties: Annotated[Fraction | None, Display("ties", "share of the verdicts", write=share)] = Field(
        description="share of the judged comparisons that are a tie to the method"
    )
    ceiling: HumanCeiling | None = Field(
        default=None,
        description="people among themselves beside the method; left out unless two people ranked the same pair",
    )
    replacement: ReplacementTest | None = Field(
        default=None,
        description="whether the method can take a person's place; left out unless two people ranked the same pair",
    )


class JudgedMethod(MethodAgreement, Used):
    """The agreement of one judge and method with people's rankings, with usage and failures."""

    input_tokens: Annotated[Tokens, Display("tokens in", write=count)]
    output_tokens: Annotated[Tokens, Display("tokens out", write=count)]
    per_point: PerPoints
    failures: Failures = Field(description="judgements that failed, by kind of failure")
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])


class Gap(Value):
    """The accuracy of a second method minus that of a first, over comparisons that both judged."""

    judge: str
    category: str | None = Field(description="null for all")
    first: str
    second: str
    n: Annotated[Count, Display("pairs")] = Field(description="comparisons that both judged")
    difference: Interval | None = Field(description="in points; null without a comparison")
    p_value: PValue
    adjusted: Annotated[Fraction | None, Display("adjusted p", write=write_p)] = Field(
        description="Benjamini and Hochberg over all gaps: methods, categories and judges together"
    )


class OrderEffect(Value):
    """The effect of the displayed order of a batch on the ranking."""

    orders: Annotated[Count, Display("orders", write=lambda value, pointer: str(value))]
    consistent: Annotated[Share, Display("same verdict in two orders", write=percent_share)] = Field(
        description="verdicts on a pair that are the same in two orders"
    )
    earlier: Annotated[
        Share, Display("prefers the earlier", "ties left out; 50 % is no effect", write=percent_share)
    ] = Field(description="verdicts, ties left out, that prefer the response shown earlier; 0.5 is no effect")
    p_value: Annotated[PValue, Display("p", write=write_p)]


class JudgingFigures(Used, DataFigures):
    """The figures of a comparison of judging methods."""

    judge: str | None = Field(default=None, description="absent where there are several")
    judges: tuple[str, ...]
    methods: tuple[str, ...]
    protocol: Protocol
    show_image: bool
    tree: str | None = Field(
        default=None,
        description="the version of the capability tree whose categories are those of the tables; absent for the data's own",
    )
    repeats: int = Field(ge=1, description="judgements of a response by every method but batch")
    rankings: Rankings
    people: PeopleAgreement | None = Field(description="null where no two people ranked the same pair")
    results: dict[str, dict[str, JudgedMethod]] = Field(description="by judge and method")
    direction: Direction
    gaps: tuple[Gap, ...]
    order: dict[str, OrderEffect] = Field(description="by judge, where batch is among the methods")


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All ranked pairs of responses, one entry per pair and annotator, in the order of the rankings.

    Attributes:
        pairs: sample and the two models.
        annotators: the annotator of each pair.
        human: the annotator's preference: 1 for the first, -1 for the second, 0 for neither.
        clusters: cluster of each pair; samples that share an image share a cluster.
        categories: categories of each pair's sample; with a capability tree, a sample may be in several.
        folds: fold of each pair, for fitting the margin of ties; all pairs of an image are in one fold.
    """

    pairs: Sequence[tuple[str, str, str]]
    annotators: Sequence[str]
    human: Sides
    clusters: Sequence[str]
    categories: Sequence[Collection[str]]
    folds: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.pairs)

    def at(self, category: str) -> NDArray[np.bool_]:
        """Return a mask of the pairs of a category; all for the empty name."""
        return np.array([not category or category in names for names in self.categories], dtype=bool)

    @property
    def category_names(self) -> list[str]:
        """The categories of the pairs, in alphabetical order."""
        return sorted({name for names in self.categories for name in names})


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judge and method with the rankings.

    Attributes:
        judged: whether both responses of a pair have a score.
        fitted: predicted sides of the judged pairs, with margins fitted on other images.
        plain: whether the sides of the judged pairs agree if only equal scores count as ties.
    """

    judged: NDArray[np.bool_]
    fitted: CrossFit
    plain: NDArray[np.bool_]

    @property
    def hits(self) -> NDArray[np.float64]:
        """For every comparison, 1 if the side agrees, 0 if it does not, and NaN if it was not judged."""
        hits = np.full(len(self.judged), np.nan)
        hits[self.judged] = self.fitted.agreed
        return hits


class ShownRanking(NamedTuple):
    """A batch ranking: the sample's cluster, and models and ranks in displayed order."""

    cluster: str
    models: Sequence[str]
    ranks: Sequence[int]


def comparisons_of(
    rankings: Iterable[HumanRanking],
    clusters: Mapping[str, str],
    categories: Mapping[str, Collection[str]],
    *,
    seed: int,
) -> Comparisons:
    """Return the pairs that people ranked.

    Args:
        rankings: the rankings.
        clusters: cluster by sample.
        categories: categories by sample.
        seed: seed of the draw of folds.
    """
    pairs: list[tuple[str, str, str]] = []
    annotators: list[str] = []
    human: list[tuple[float, float]] = []
    for ranking in rankings:
        for first, second in combinations(sorted(ranking.scores), 2):
            pairs.append((ranking.sample, first, second))
            annotators.append(ranking.annotator)
            human.append((ranking.scores[first], ranking.scores[second]))
    scores = np.array(human, dtype=np.float64).reshape(-1, 2)
    pair_clusters = [clusters[sample] for sample, _, _ in pairs]
    return Comparisons(
        pairs=pairs,
        annotators=annotators,
        human=sides(scores[:, 0], scores[:, 1]),
        clusters=pair_clusters,
        categories=[categories.get(sample, ()) for sample, _, _ in pairs],
        folds=fold_of(pair_clusters, seed=seed),
    )


def judge_agreement(comparisons: Comparisons, scores: Scores) -> JudgeAgreement:
    """Return the agreement of one judge and method with the ranked pairs."""
    first = np.array([scores.get((sample, model), np.nan) for sample, model, _ in comparisons.pairs])
    second = np.array([scores.get((sample, model), np.nan) for sample, _, model in comparisons.pairs])
    both_scored = ~(np.isnan(first) | np.isnan(second))
    first, second, human = first[both_scored], second[both_scored], comparisons.human[both_scored]
    fitted = cross_fitted(first, second, human, comparisons.folds[both_scored])
    return JudgeAgreement(both_scored, fitted, sides(first, second) == human)


class JudgingTables(Value):
    """The figures that depend on people's rankings and judges' scores."""

    people: PeopleAgreement | None
    results: dict[str, dict[str, MethodAgreement]]
    gaps: tuple[Gap, ...]


def judging_tables(comparisons: Comparisons, scores: Mapping[str, Mapping[str, Scores]], *, seed: int) -> JudgingTables:
    """Return the agreement of judges and methods with people's rankings.

    Args:
        comparisons: the pairs that people ranked.
        scores: scores by judge and method.
        seed: seed of intervals and tests.
    """
    agreements: dict[str, dict[str, JudgeAgreement]] = {}
    tables: dict[str, dict[str, MethodAgreement]] = {}
    for judge, methods in scores.items():
        agreements[judge], tables[judge] = {}, {}
        for method, method_scores in methods.items():
            agreements[judge][method] = judge_agreement(comparisons, method_scores)
            tables[judge][method] = _method_agreement(comparisons, agreements[judge][method])
    return JudgingTables(
        people=_people_agreement(comparisons), results=tables, gaps=tuple(_gaps(comparisons, agreements, seed=seed))
    )


def _method_agreement(comparisons: Comparisons, agreement: JudgeAgreement) -> MethodAgreement:
    positions: list[int] = np.flatnonzero(agreement.judged).tolist()
    clusters = [comparisons.clusters[position] for position in positions]
    unknown = len(comparisons) - len(positions)
    by_category: dict[str, Share] = {}
    for category in comparisons.category_names:
        in_category = comparisons.at(category)
        inside = in_category[agreement.judged]
        by_category[category] = share_of_hits(
            agreement.fitted.agreed[inside].tolist(),
            [cluster for cluster, is_inside in zip(clusters, inside, strict=True) if is_inside],
            unknown=int(in_category.sum()) - int(inside.sum()),
        )
    return MethodAgreement(
        accuracy=share_of_hits(agreement.fitted.agreed.tolist(), clusters, unknown=unknown),
        by_category=by_category,
        coverage=rounded(len(positions) / len(comparisons)) if len(comparisons) else None,
        margins=tuple(map(rounded, agreement.fitted.margins)),
        unfitted=share_of_hits(agreement.plain.tolist(), clusters, unknown=unknown),
        ties=rounded(float(np.mean(agreement.fitted.predicted == 0))) if positions else None,
        **_beside_people(comparisons, agreement)._asdict(),
    )


def _beside_people(comparisons: Comparisons, agreement: JudgeAgreement) -> BesidePeople:
    """Return the human ceiling of a judge and method, and the test of whether it can replace a person."""
    names = ["\t".join(pair) for pair in comparisons.pairs]
    people: dict[str, dict[str, int]] = {}
    for annotator, pair, side in zip(comparisons.annotators, names, comparisons.human.tolist(), strict=True):
        people.setdefault(annotator, {})[pair] = side
    judged_pairs = [pair for pair, is_judged in zip(names, agreement.judged, strict=True) if is_judged]
    verdicts: dict[str, int] = dict(zip(judged_pairs, agreement.fitted.predicted.tolist(), strict=True))
    return beside_people(
        people,
        verdicts,
        dict(zip(names, comparisons.clusters, strict=True)),
        alignment="same",
        failed=len({*names} - verdicts.keys()),
    )


def _people_agreement(comparisons: Comparisons) -> PeopleAgreement | None:
    """Return how often two people agree on a pair; None if no pair was ranked by two people."""
    by_pair = grouped(range(len(comparisons)), lambda position: comparisons.pairs[position])
    agreed: list[bool] = []
    clusters: list[str] = []
    categories: list[Collection[str]] = []
    for positions in by_pair.values():
        for first, second in combinations(positions, 2):
            agreed.append(bool(comparisons.human[first] == comparisons.human[second]))
            clusters.append(comparisons.clusters[first])
            categories.append(comparisons.categories[first])
    if not agreed:
        return None
    by_category: dict[str, Share] = {}
    for category in comparisons.category_names:
        inside = [position for position, names in enumerate(categories) if category in names]
        by_category[category] = share_of_hits(
            [agreed[position] for position in inside], [clusters[position] for position in inside]
        )
    return PeopleAgreement(accuracy=share_of_hits(agreed, clusters), by_category=by_category)


def _gaps(comparisons: Comparisons, agreements: Mapping[str, Mapping[str, JudgeAgreement]], *, seed: int) -> list[Gap]:
    """Return the paired differences of all methods, by judge and category, with jointly adjusted p-values."""
    categories = {name: comparisons.at(name) for name in ("", *comparisons.category_names)}
    gaps: list[Gap] = []
    for judge, methods in agreements.items():
        hits = {method: agreement.hits for method, agreement in methods.items()}
        for first, second in combinations(methods, 2):
            steps = hits[second] - hits[first]
            for category, in_category in categories.items():
                positions: list[int] = np.flatnonzero(in_category & ~np.isnan(steps)).tolist()
                clusters = [comparisons.clusters[position] for position in positions]
                comparison = paired_difference((POINTS * steps[positions]).tolist(), clusters, widest=POINTS, seed=seed)
                gaps.append(
                    Gap(
                        judge=judge,
                        category=category or None,
                        first=first,
                        second=second,
                        n=len(positions),
                        difference=comparison.difference,
                        p_value=comparison.p_value,
                        adjusted=None,
                    )
                )
    return with_adjusted(gaps, [gap.p_value for gap in gaps])


def order_effect(rankings: Iterable[Sequence[ShownRanking]], *, orders: int, seed: int) -> OrderEffect:
    """Return the effect of the displayed order on rankings of the same responses.

    Args:
        rankings: for each sample, the rankings in its orders.
        orders: number of orders of each sample.
        seed: seed of the test.
    """
    agreements: list[bool] = []
    same_clusters: list[str] = []
    preferences: list[int] = []
    clusters: list[str] = []
    for sample_rankings in rankings:
        for ranking in sample_rankings:
            signs = earlier_preferred(ranking.ranks)
            preferences += signs
            clusters += [ranking.cluster] * len(signs)
        for first, second in combinations(sample_rankings, 2):
            verdicts, second_verdicts = _verdicts(first), _verdicts(second)
            agreements += [verdicts[pair] == side for pair, side in second_verdicts.items()]
            same_clusters += [first.cluster] * len(second_verdicts)
    p_value = None
    if preferences:
        p_value = rounded(sign_flip_test(preferences, clusters=clusters, seed=seed).p_value)
    return OrderEffect(
        orders=orders,
        consistent=share_of_hits(agreements, same_clusters),
        earlier=share_of_hits([preference > 0 for preference in preferences], clusters),
        p_value=p_value,
    )


def _verdicts(ranking: ShownRanking) -> dict[tuple[str, str], int]:
    """Return, for each pair of models by name, which one is ranked higher: 1 the first, -1 the second, 0 neither."""
    verdicts: dict[tuple[str, str], int] = {}
    by_name = sorted(zip(ranking.models, ranking.ranks, strict=True))
    for (first, first_rank), (second, second_rank) in combinations(by_name, 2):
        verdicts[first, second] = (first_rank < second_rank) - (first_rank > second_rank)
    return verdicts


def per_point(used: float | None, accuracy: Share) -> PerPoint | None:
    """Return calls or US dollars per point of accuracy, with the interval from the accuracy's; None if unknown."""
    if used is None or not accuracy.share:
        return None
    return PerPoint(
        mean=rounded(used / (POINTS * accuracy.share)),
        low=rounded(used / (POINTS * accuracy.high)) if accuracy.high else None,
        high=rounded(used / (POINTS * accuracy.low)) if accuracy.low else None,
        no_interval=accuracy.no_interval,
    )


class JudgingItem(Value):
    """A judgement that has a result; `ranks` are those of a batch."""

    sample: str
    judge: str
    method: str
    draw: int
    ranks: tuple[str, ...] | None
    model: str
    score: float | None
    failure: FailureKind | None
    reason: str | None


Judged = dict[tuple[str, str], list[tuple[JudgingUnit, ResultRow]]]
"""Judgements with their rows, by judge and method."""

Batches = dict[str, dict[str, list[ShownRanking]]]
"""Batch rankings by judge and sample, in the order of their draws."""


def figures_of_run(home: Home, run: Run) -> JudgingFigures:
    """Return the figures of a comparison; the same stored rows give the same bytes."""
    plan = run.plan_as(JudgingPlan)
    rankings = _human_rankings(home, plan)
    ranked = ranked_models(rankings.rankings)
    rows = {row.item: row for row in results(home, run.id)}
    units = all_units(plan, ranked)
    judgements: Judged = {}
    for name, unit in units.items():
        method_rows = judgements.setdefault((unit.judge, unit.method), [])
        if name in rows:
            method_rows.append((unit, rows[name]))
    clusters = clusters_by_sample(home, run.id)
    categories = _categories(home, run, plan)
    comparisons = comparisons_of(rankings.rankings, clusters, categories, seed=run.seed)
    batches = _batches(home, judgements, clusters)
    judges = [spec.ref.name for spec in plan.judges]
    scores: dict[str, dict[str, Scores]] = {}
    for judge in judges:
        scores[judge] = {method: _scores(home, judgements, judge, method, batches) for method in plan.methods}
    tables = judging_tables(comparisons, scores, seed=run.seed)
    results_by_judge: dict[str, dict[str, JudgedMethod]] = {}
    calls: dict[str, None] = {}
    for judge, methods in tables.results.items():
        results_by_judge[judge] = {}
        for method, agreement in methods.items():
            method_rows = judgements[judge, source_of(method)]
            rows_used = _rows_of(method_rows, rows, judge, method)
            calls |= dict.fromkeys(key for row in rows_used for key in row.calls)
            results_by_judge[judge][method] = _judged_method(home, agreement, rows_used, method_rows)
    items = len(units) + len(plan.bases) * len(plan.judges) * len(ranked)
    return JudgingFigures(
        **heading(run, plan),
        **dict(used_by_calls(SqliteLedger(home).calls_for(calls).values())),
        judges=tuple(judges),
        methods=plan.methods,
        protocol=plan.protocol,
        show_image=plan.show_image,
        tree=plan.tree,
        repeats=plan.repeats,
        open_items=items - len(rows),
        rankings=Rankings(
            annotators=len({ranking.annotator for ranking in rankings.rankings}),
            samples=len(ranked),
            without=_without_rankings(run),
            models=tuple(sorted({model for models in ranked.values() for model in models})),
            comparisons=len(comparisons),
            pairs=len(set(comparisons.pairs)),
            ties=rounded(int((comparisons.human == 0).sum()) / len(comparisons)),
            folds=int(comparisons.folds.max()) + 1,
        ),
        people=tables.people,
        results=results_by_judge,
        direction=DIRECTION,
        gaps=tables.gaps,
        order={
            judge: order_effect(samples.values(), orders=plan.orders, seed=run.seed)
            for judge, samples in batches.items()
        },
    )


def _categories(home: Home, run: Run, plan: JudgingPlan) -> dict[str, Collection[str]]:
    """Return the category of each sample, or the categories of its criteria in the plan's capability tree."""
    if plan.tree is None:
        return {sample.id: {sample.category} for sample in load_samples(home, run.id) if sample.category}
    criteria = {criterion.key: criterion for criterion in tree_criteria(home, resolve_tree(home, plan.tree).tree)}
    categories: dict[str, Collection[str]] = {}
    for key, node in mapping_of(from_version(get_version(home, plan.tree))).items():
        criterion = criteria.get(key)
        if criterion is not None and node != ROOT:
            names = categories.get(criterion.sample_id, ())
            categories[criterion.sample_id] = {*names, CapabilityPath.parse(node).category}
    return categories


def _without_rankings(run: Run) -> int:
    unranked: Any = run.options["without_rankings"]  # Options are JSON.
    return int(unranked)


def _judged_method(
    home: Home,
    agreement: MethodAgreement,
    rows: Sequence[ResultRow],
    method_rows: Sequence[tuple[JudgingUnit, ResultRow]],
) -> JudgedMethod:
    """Return the figures of a judge and a method, with usage over all rows that its verdicts rest on."""
    calls = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls)).values()
    usage = used_by_calls(calls)
    failures: list[FailureKind] = [row.failure for _, row in method_rows if row.failure is not None]
    return JudgedMethod(
        **dict(agreement),
        **dict(usage),
        input_tokens=_total([call.input_tokens for call in calls]),
        output_tokens=_total([call.output_tokens for call in calls]),
        per_point=PerPoints(
            calls=per_point(usage.calls, agreement.accuracy), cost=per_point(usage.cost, agreement.accuracy)
        ),
        **failure_fields(failures),
    )


def _total(tokens: Sequence[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    total = 0
    for number in tokens:
        if number is None:
            return None
        total += number
    return total


def _rows_of(
    method_rows: Sequence[tuple[JudgingUnit, ResultRow]], rows: Mapping[str, ResultRow], judge: str, method: str
) -> list[ResultRow]:
    """Return all rows that a judge's verdicts by a method rest on."""
    rows_of_verdicts = [row for _, row in method_rows]
    for basis in RESTS_ON[method]:
        for sample in dict.fromkeys(unit.sample for unit, _ in method_rows):
            name = basis_item(basis, judge, sample)
            if name in rows:
                rows_of_verdicts.append(rows[name])
    return rows_of_verdicts


def _scores(home: Home, judgements: Judged, judge: str, method: str, batches: Batches) -> dict[tuple[str, str], float]:
    """Return the score of each judged response: the mean over its repeats, or over the orders of a batch."""
    values: dict[tuple[str, str], list[float]] = {}
    if method == "batch":
        for sample, rankings in batches[judge].items():
            for ranking in rankings:
                for model, score in zip(ranking.models, beaten(ranking.ranks), strict=True):
                    values.setdefault((sample, model), []).append(score)
    else:
        scored_rows = [(unit, row) for unit, row in judgements[judge, source_of(method)] if row.score is not None]
        checkpoints: Mapping[str, CheckpointScores] = {}
        if method == "atom-no-weights":
            checkpoints = find_values(home, CheckpointScores, [row.value_ids[0] for _, row in scored_rows])
        for unit, row in scored_rows:
            score = row.score or 0.0
            if checkpoints:
                scores = checkpoints[row.value_ids[0]].scores
                score = weighted_score(scores, [1] * len(scores))
            values.setdefault((unit.sample, unit.model), []).append(score)
    return {response: sum(scores) / len(scores) for response, scores in values.items()}


def _batches(home: Home, judgements: Judged, clusters: Mapping[str, str]) -> Batches:
    batches: Batches = {}
    for (judge, method), method_rows in judgements.items():
        if method != "batch":
            continue
        rankings = _batch_rankings(home, [row for _, row in method_rows])
        models = _models_of(home, rankings.values())
        samples = batches.setdefault(judge, {})
        for unit, row in method_rows:
            ranking = rankings.get(row.item)
            if ranking is not None:
                names = [models[id] for id in ranking.responses]
                samples.setdefault(unit.sample, []).append(ShownRanking(clusters[unit.sample], names, ranking.ranks))
    return batches


def judging_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each judgement that has a result, with the response's model; with `sample`, only those of that sample."""
    units = _units(home, run)
    rows = [row for row in ordered_rows(home, run, sample) if row.item in units]
    for row, described in zip(rows, _describe(home, rows, units), strict=True):
        item = {"model": row.model, "score": row.score, "failure": row.failure, "reason": row.reason}
        yield {"sample": row.sample_id, **described, **item}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of the export's columns for each judgement."""
    return _describe(home, rows, _units(home, run))


def _units(home: Home, run: Run) -> dict[str, JudgingUnit]:
    plan = run.plan_as(JudgingPlan)
    return all_units(plan, ranked_models(_human_rankings(home, plan).rankings))


def _describe(home: Home, rows: Sequence[ResultRow], units: Mapping[str, JudgingUnit]) -> list[dict[str, object]]:
    """Return judge, method, draw and, for a batch, the ranks of each judgement."""
    rankings = _batch_rankings(home, [row for row in rows if units[row.item].method == "batch"])
    models = _models_of(home, rankings.values())
    described: list[dict[str, object]] = []
    for row in rows:
        unit, ranking = units[row.item], rankings.get(row.item)
        ranks = None
        if ranking is not None:
            ranks = [f"{models[id]}: {rank}" for id, rank in zip(ranking.responses, ranking.ranks, strict=True)]
        described.append({"judge": unit.judge, "method": unit.method, "draw": unit.draw, "ranks": ranks})
    return described


def _human_rankings(home: Home, plan: JudgingPlan) -> HumanRankings:
    return find_values(home, HumanRankings, [plan.rankings])[plan.rankings]


def _batch_rankings(home: Home, rows: Iterable[ResultRow]) -> dict[str, BatchRanking]:
    ids = {row.item: row.value_ids[0] for row in rows if row.value_ids}
    rankings = find_values(home, BatchRanking, ids.values())
    return {item: rankings[id] for item, id in ids.items()}


def _models_of(home: Home, rankings: Iterable[BatchRanking]) -> dict[str, str]:
    """Return the model of each ranked response, by the response's id."""
    ids = list(dict.fromkeys(id for ranking in rankings for id in ranking.responses))
    return dict(home.all_among("SELECT id, model FROM responses WHERE id IN ({marks})", ids))
