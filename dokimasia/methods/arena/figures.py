"""The figures of an arena: the models and their computation from verdicts.

Rewards are from -100 to 100, rates in percent, and ratings have mean 1000.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from dokimasia.algorithms.pairwise import ConnectedModels, PairOutcome, rate_models
from dokimasia.algorithms.statistics import ConfidenceInterval, adjusted
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.duel import ArenaRound
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.methods.arena.request import ArenaPlan, Pair
from dokimasia.methods.duel import (
    BesideScores,
    DuelPlaces,
    DuelRow,
    VerdictFigures,
    beside_scores,
    complete,
    duel_rows,
    judgements,
    means_of,
    place_figures,
    unasked,
    verdict_figures,
    whole_number,
)
from dokimasia.report.blocks import Cell
from dokimasia.report.fields import Count, Direction, Display, Failures, Fraction, Interval, LeftOpen, Used
from dokimasia.report.figures import NOTHING, measured, p_value
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, heading
from dokimasia.runs.measures import failure_fields, interval_of, mean, rounded
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, run_samples

DRAW = "arena_draw"
"""The kind of a row that stores a drawn round."""


def _rank_text(interval: tuple[int, int] | None, pointer: str) -> Cell:
    if interval is None:
        return NOTHING
    best, worst = interval
    if best == worst:
        return str(best)
    return f"{best} to {worst}"


class ArenaModel(VerdictFigures):
    """One model's figures over all its opponents; intervals clustered by cases that share an image."""

    rating: Annotated[
        Interval | None,
        Display("rating", "1000 on average; 400 more: odds of 10 to 1 of winning", write=partial(measured, digits=0)),
    ] = Field(
        description="1000 on average over its group, 400 more for odds of 10 to 1 of winning; null where there is no finite one"
    )
    group: Annotated[
        Count,
        Display("group", "ratings of different groups cannot be compared", write=lambda value, pointer: str(value + 1)),
    ] = Field(description="place in `groups`: ratings of different groups cannot be compared")
    ranks: tuple[float, ...] | None = Field(
        description="in percent of the resamples, how often it comes first, second and so on in its group; ties share ranks"
    )
    rank_interval: Annotated[
        tuple[int, int] | None, Display("rank", "95 % interval, of all models at once", write=_rank_text)
    ] = Field(description="best and worst rank in its group that the tests of all pairs leave open; null without ranks")
    n: Count = Field(description="cases")
    met: Annotated[
        tuple[str, ...], Display("met", "models that it met", write=lambda value, pointer: str(len(value)))
    ] = Field(description="models that it met")
    words: Annotated[float | None, Display("words", "mean words of an answer", write=whole_number)] = Field(
        ge=0, description="mean words of its answers"
    )
    failures: Failures = Field(description="meetings that failed in any part, by the kind of the first failure")
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])


class ArenaGroup(Value):
    """Models whose ratings can be compared with each other, best first."""

    models: tuple[str, ...]
    reason: str = Field(description="why there is no finite rating; empty where there is")
    tie_rate: float | None = Field(description="percent of ties between two models of equal strength")


class ArenaPair(VerdictFigures):
    """Two models, the better one second: the verdicts on the second, and its lead in rating over the first."""

    first: str
    second: str
    n: Annotated[Count, Display("cases")] = Field(
        description="cases on which they met; 0 where they are compared by way of others alone"
    )
    difference: Annotated[
        Interval | None,
        Display(
            "difference",
            "of their ratings, second minus first, with its 95 % interval",
            write=partial(measured, digits=0, signed=True),
        ),
    ] = Field(description="rating of the second minus that of the first; null across groups")
    p: Annotated[Fraction | None, Display("p", write=p_value)] = Field(
        description="of no difference; null without a test"
    )
    adjusted: Annotated[
        Fraction | None, Display("adjusted p", "Benjamini and Hochberg, over all pairs", write=p_value)
    ] = Field(description="p corrected for all pairs")


class ScoresElsewhere(Value):
    """The models' scores in other benchmarks, and their correlations with the figures of this arena."""

    scores: dict[str, float]
    reward: BesideScores
    rating: BesideScores = Field(description="without correlations where the models are in several groups")


class ArenaFigures(Used, DataFigures):
    """The figures of an arena."""

    samples: Count = Field(description="cases of the run")
    judge: Judge
    draw: Literal["all", "swiss"] = Field(description="whether all pairs meet, or those of rounds")
    rounds: tuple[tuple[tuple[tuple[str, ...], ...], ...], ...] = Field(
        description="the pairs of each round that was drawn, on either half of the cases"
    )
    repeats: int = Field(ge=1, description="answers and judgements a case")
    judge_sees: Literal["image", "text"] = Field(description="whether the judge was shown the images")
    models: dict[str, ArenaModel] = Field(description="by name, best first")
    groups: tuple[ArenaGroup, ...] = Field(description="the strongest first, where they met")
    direction: Direction
    pairs: tuple[ArenaPair, ...] = Field(description="that met, or whose ratings can be compared")
    wins: dict[str, dict[str, float]] = Field(description="percent of verdicts that a model wins against another")
    places: DuelPlaces | None = Field(description="over all meetings; null where no pair was judged in both orders")
    elsewhere: ScoresElsewhere | None = Field(default=None, description="only where scores were given")


class ArenaTables(Value):
    """The figures that follow from the verdicts of an arena."""

    models: dict[str, ArenaModel]
    groups: tuple[ArenaGroup, ...]
    pairs: tuple[ArenaPair, ...]
    wins: dict[str, dict[str, float]]
    places: DuelPlaces | None
    elsewhere: ScoresElsewhere | None = None


class Meeting(NamedTuple):
    """Answers of two models to a case: the judgement from the first model's view, and the other model's name."""

    row: DuelRow
    other: str

    @property
    def pair(self) -> Pair:
        """The two models."""
        return self.row.model, self.other


def figures_of_run(home: Home, run: Run) -> ArenaFigures:
    """Return the figures of an arena; the same stored rows give the same bytes."""
    plan = run.plan_as(ArenaPlan)
    result_rows = [row for row in results(home, run.id) if row.kind == plan.KIND]
    rounds = drawn_rounds(home, run.id)
    half_of = halves(home, run.id, plan.seed)
    items = meetings_of(rounds, half_of, plan)
    if run.status != "done":
        items += (plan.rounds - len(rounds)) * plan.pairs_a_round * len(half_of)
    meetings: list[Meeting] = []
    for stored_row, row in zip(result_rows, duel_rows(home, run), strict=True):
        meetings.append(Meeting(row, plan.opponent_of(stored_row)))
    tables = arena_tables(meetings, plan.names, parts=plan.parts, scores=plan.scores, seed=run.seed)
    return ArenaFigures(
        **heading(run, plan),
        **calls_and_costs(home, result_rows),
        samples=len(half_of),
        open_items=items * plan.repeats - len(result_rows),
        draw=plan.draw,
        rounds=tuple(arena_round.halves for arena_round in rounds),
        repeats=plan.repeats,
        judge_sees=plan.judge_sees,
        direction=DIRECTION,
        **dict(tables),
    )


def meetings_of(rounds: Iterable[ArenaRound], half_of: Mapping[str, int], plan: ArenaPlan) -> int:
    """Return the number of meetings in the rounds, without those that lack an answer."""
    return sum(
        plan.meets(sample_id, pair)
        for arena_round in rounds
        for sample_id, half in half_of.items()
        for pair in arena_round.halves[half]
    )


def arena_tables(
    meetings: Sequence[Meeting],
    names: Sequence[str],
    *,
    parts: int = 1,
    scores: Mapping[str, float] | None = None,
    seed: int,
) -> ArenaTables:
    """Return the figures of an arena that depend on its verdicts.

    Args:
        meetings: the meetings in the run's order.
        names: names of all models.
        parts: number of parts of the cases whose pairs were drawn separately.
        scores: scores of models elsewhere, higher is better.
        seed: seed of the bootstrap.
    """
    outcomes: list[PairOutcome] = []
    clusters: list[str] = []
    for meeting in meetings:
        for verdict in meeting.row.verdict_pair or ():  # A single order would mix in the effect of the position.
            outcomes.append(PairOutcome(*meeting.pair, _winner(verdict)))
            clusters.append(meeting.row.cluster)
    groups = rate_models(outcomes, clusters=clusters, models=names, parts=parts, seed=seed)
    models = {name: _model(name, meetings, groups, seed=seed) for name in names}
    ranked = sorted(models, key=lambda name: (models[name].group, -_rating(models[name]), name))
    models = {name: models[name] for name in ranked}
    pairs = _pairs(meetings, groups, ranked, seed=seed)
    return ArenaTables(
        models=models,
        groups=tuple(
            ArenaGroup(
                models=tuple(sorted(group.models, key=ranked.index)),
                reason=group.reason,
                tie_rate=None if group.tie_rate is None else rounded(100 * group.tie_rate),
            )
            for group in groups
        ),
        pairs=tuple(pairs),
        wins={name: _wins(name, pairs, ranked) for name in ranked},
        places=place_figures([meeting.row for meeting in meetings], seed=seed),
        elsewhere=None if scores is None else _elsewhere(models, scores),
    )


def _winner(verdict: int) -> int:
    """Return 1 if the first of two models is better, -1 if the second is, 0 for a tie."""
    return (verdict > 0) - (verdict < 0)


def _rating(model: ArenaModel) -> float:
    if model.rating is None:
        return 0.0
    return model.rating.mean


def _model(name: str, meetings: Sequence[Meeting], groups: Sequence[ConnectedModels], *, seed: int) -> ArenaModel:
    own_meetings = [meeting for meeting in meetings if name in meeting.pair]
    number, group = next((number, group) for number, group in enumerate(groups) if name in group.models)
    words: dict[tuple[str, int], int] = {}
    opponents: set[str] = set()
    for meeting in own_meetings:
        opponents |= {*meeting.pair}
        count = _words(name, meeting.row)
        if count is not None:
            words[meeting.row.sample_id, meeting.row.repeat] = count
    ranks = group.ranks.get(name)
    return ArenaModel(
        **dict(_verdicts(name, own_meetings, seed=seed)),
        rating=interval_of(group.ratings[name], group.intervals[name]) if name in group.ratings else None,
        group=number,
        ranks=None if ranks is None else tuple(rounded(100 * share) for share in ranks),
        rank_interval=group.rank_intervals.get(name),
        n=len({meeting.row.sample_id for meeting in own_meetings}),
        met=tuple(sorted(opponents - {name})),
        words=mean(list(words.values())),
        **failure_fields(meeting.row.failure for meeting in own_meetings if meeting.row.failure),
    )


def _verdicts(name: str, meetings: Sequence[Meeting], *, seed: int) -> VerdictFigures:
    """Return the figures of the verdicts on a model, whichever side it was on."""
    answers: list[tuple[list[int | None], str]] = []
    for row, _ in meetings:
        sign = 1 if name == row.model else -1
        verdicts = [None if verdict is None else sign * verdict for verdict in row.verdicts.values()]
        answers.append((verdicts, row.cluster))
    return verdict_figures(answers, seed=seed, unasked=unasked(meeting.row for meeting in meetings))


def _words(name: str, row: DuelRow) -> int | None:
    """Return the number of words of a model's answer; None if it is unknown."""
    if name == row.model or row.words is None:
        return row.words
    if row.longer is None:
        return None
    return row.words - row.longer


def _pairs(
    meetings: Sequence[Meeting], groups: Sequence[ConnectedModels], ranked: Sequence[str], *, seed: int
) -> list[ArenaPair]:
    """Return every pair of models that met or whose ratings are comparable, the better model second."""
    differences = {pair: difference for group in groups for pair, difference in group.differences.items()}
    p_values = adjusted([difference.p_value for difference in differences.values()])
    adjusted_p = dict(zip(differences, p_values, strict=True))
    pairs: list[ArenaPair] = []
    for second, first in combinations(ranked, 2):
        pair_meetings = [meeting for meeting in meetings if {*meeting.pair} == {first, second}]
        is_reversed = (first, second) not in differences
        pair = (second, first) if is_reversed else (first, second)
        tested = differences.get(pair)
        if not pair_meetings and tested is None:
            continue
        difference = p = None
        if tested is not None:
            value, interval, p = tested
            if is_reversed:
                value, interval = -value, ConfidenceInterval(-interval.high, -interval.low, interval.reason)
            difference = interval_of(value, interval)
        pairs.append(
            ArenaPair(
                **dict(_verdicts(second, pair_meetings, seed=seed)),
                first=first,
                second=second,
                n=len({meeting.row.sample_id for meeting in pair_meetings}),
                difference=difference,
                p=rounded(p),
                adjusted=rounded(adjusted_p.get(pair)),
            )
        )
    return pairs


def _wins(name: str, pairs: Sequence[ArenaPair], order: Sequence[str]) -> dict[str, float]:
    """Return the percentage of valid verdicts that a model wins against each opponent; ties are not wins."""
    wins: dict[str, float] = {}
    for pair in pairs:
        verdicts = pair.verdicts
        if verdicts.valid and name == pair.second:
            wins[pair.first] = rounded(100 * (verdicts.much_better + verdicts.better) / verdicts.valid)
        elif verdicts.valid and name == pair.first:
            wins[pair.second] = rounded(100 * (verdicts.worse + verdicts.much_worse) / verdicts.valid)
    return {opponent: wins[opponent] for opponent in order if opponent in wins}


def _elsewhere(models: Mapping[str, ArenaModel], scores: Mapping[str, float]) -> ScoresElsewhere:
    """Return the correlations of rewards and ratings with scores elsewhere (figure 6 and D.1)."""
    rewards = {name: model.reward for name, model in models.items()}
    ratings = {name: model.rating for name, model in models.items()}
    groups = {models[name].group for name in scores if name in models and ratings[name] is not None}
    return ScoresElsewhere(
        scores=dict(scores),
        reward=beside_scores(means_of(rewards), scores),
        rating=beside_scores(means_of(ratings), scores, comparable=len(groups) <= 1),
    )


def drawn_rounds(home: Home, run_id: str) -> list[ArenaRound]:
    """Return the drawn rounds, in order."""
    ids = [row.value_ids[0] for row in results(home, run_id) if row.kind == DRAW]
    return sorted(find_values(home, ArenaRound, ids).values(), key=lambda arena_round: arena_round.number)


def halves(home: Home, run_id: str, seed: int) -> dict[str, int]:
    """Return the half, 0 or 1, of each case; cases that share an image are in the same half."""
    samples = run_samples(home, run_id)
    clusters = sorted({sample.cluster for sample in samples})
    Random(seed).shuffle(clusters)
    half_of = {cluster: number % 2 for number, cluster in enumerate(clusters)}
    return {sample.sample_id: half_of[sample.cluster] for sample in samples}


def outcomes(home: Home, run: Run, plan: ArenaPlan) -> Iterator[tuple[str, str, str, int]]:
    """Yield case, both models, and outcome (1, 0 or -1 for the first) of each verdict on meetings with both orders."""
    rows = [row for row in results(home, run.id) if row.kind == plan.KIND]
    judgements_by_item = judgements(home, rows)
    for row in rows:
        opponent = plan.opponent_of(row)
        for verdict in complete(judgement.verdict for judgement in judgements_by_item[row.item]):
            yield row.sample_id, row.model, opponent, _winner(verdict)
