"""The request of an arena, its plan, its acceptance, and the estimate of its calls."""

import asyncio
from collections.abc import Iterator, Sequence
from math import ceil, log2
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.algorithms.pairwise import most_rounds
from dokimasia.datasets.annotations import read_ratings
from dokimasia.domain.call import STORED, ModelRef, ModelSpec
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.duel import ANSWER_TOKENS, JUDGED_TOKENS, DuelPlan, DuelRequest
from dokimasia.methods.duel import accept as accept_duels
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Estimate, ExpectedCalls, size_of, total_estimate
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.requests import RESPONSES_HELP, STORED_TOO, DataRequest, Judge, Models, Option, Repeats
from dokimasia.runs.responses import ResponsesFiles, read_answer_files
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.results import ResultRow

Draw = Literal["all", "swiss"]
Pair = tuple[str, str]

FEWEST_MODELS = 3


class ArenaRequest(DataRequest):
    """Have models meet each other on the cases of DATA, and rate them: a judge compares their answers in both orders.

    With `--draw swiss` models meet in rounds, each against a model with similar results. The cases are as for `duel`.
    If existing answers are incomplete, `--on-bad-sample skip` matches only models with an answer to the case. The same
    command continues an interrupted arena, or prints its results. With `--battles FILE` in place of all else, existing
    battles are rated without a call: see `dokimasia arena --battles FILE --help`.
    """

    VERB: ClassVar[str] = "arena"

    models: Models = Field(description=f"The models that meet, three or more, separated by commas.{STORED_TOO}")
    judge: Judge
    draw: Draw = Field(default="all", description="Who meets whom: all pairs, or rounds of a Swiss draw.")
    rounds: int | None = Field(
        default=None,
        ge=1,
        le=1_000,
        description="Rounds of a Swiss draw (default: one more than halvings of the models).",
    )
    judge_sees: Literal["image", "text"] = Field(default="image", description="Whether the judge is shown the images.")
    repeats: Repeats = 1
    responses: ResponsesFiles = Field(default=(), description=f"Judge {RESPONSES_HELP}")
    scores: Annotated[Path | None, Option(exists=True, file=True)] = Field(
        default=None, description="Scores of the models elsewhere, to hold theirs against: model and rating a line."
    )


class ArenaPlan(DuelPlan):
    """The plan of an arena, where any two of the `candidates` may meet; `scores` are scores in other benchmarks."""

    KIND: ClassVar[str] = "arena"

    draw: Draw = "all"
    rounds: int = 1
    scores: dict[str, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models, in alphabetical order."""
        return tuple(sorted(spec.ref.name for spec in self.candidates))

    @property
    def parts(self) -> int:
        """Number of parts of the cases whose pairs are drawn separately."""
        return 1 if self.draw == "all" else 2

    @property
    def pairs_a_round(self) -> int:
        """Maximum number of pairs per case in a round that has not been drawn yet."""
        count = len(self.candidates)
        if self.draw == "all":
            return count * (count - 1) // 2
        return count // 2

    @property
    def per_sample(self) -> int:
        """Maximum number of judged pairs of answers to a sample."""
        return self.rounds * self.pairs_a_round * self.repeats

    def meeting(self, sample_id: str, pair: Pair) -> Iterator[AnswerItem]:
        """Return the items of a pair on a case: the first model's answers, compared with the second model's."""
        for repeat in range(self.repeats if self.meets(sample_id, pair) else 0):
            yield AnswerItem(self._item(sample_id, pair, repeat), pair[0], "", repeat)

    def meets(self, sample_id: str, pair: Pair) -> bool:
        """Return whether a pair meets on a case; it does not if a file of existing answers lacks one of the two."""
        return all(name not in self.given or sample_id in self.given[name] for name in pair)

    def opponent_of(self, row: ResultRow) -> str:
        """Return the name of the model that a result's answer was compared with."""
        return next(name for name in self.names if self._item(row.sample_id, (row.model, name), row.repeat) == row.item)

    def _item(self, sample_id: str, pair: Pair, repeat: int) -> str:
        return f"{self.KIND}/{sample_id}/{pair[0]}/{pair[1]}/{repeat}"


def rounds_of(request: ArenaRequest) -> int:
    """Return the number of rounds of an arena.

    Raises:
        ConfigError: the options are impossible; the message names a solution.
    """
    models = len(set(request.models))
    if models < len(request.models):
        duplicates = sorted({name for name in request.models if request.models.count(name) > 1})
        raise ConfigError(f"--models names {', '.join(duplicates)} more than once; a model does not meet itself")
    if models < FEWEST_MODELS:
        raise ConfigError(
            f"an arena is of {FEWEST_MODELS} models or more, and --models names {models}: for two there is `duel`"
        )
    if request.draw == "all":
        if request.rounds is not None:
            raise ConfigError("--rounds is for --draw swiss; with --draw all every pair meets once")
        return 1
    most = most_rounds(models)
    if request.rounds is not None and request.rounds > most:
        raise ConfigError(
            f"{models} models can meet in {most} rounds without meeting twice; --rounds is {most} or fewer"
        )
    return request.rounds or min(most, ceil(log2(models)) + 1)


async def accept(request: ArenaRequest, session: Session) -> Accepted[ArenaPlan]:
    """Validate a request, and return its plan, estimate and cases; the first model takes the baseline's place.

    Raises:
        InputError: data, answers, scores, configuration or options are unusable.
    """
    responses = await asyncio.to_thread(read_answer_files, request.responses, request.data)
    names = request.models
    if responses is not None:
        names = (*responses.live(names), *responses.stored(names))
        request = request.model_copy(update={"models": names})
    rounds = rounds_of(request)
    first, *opponents = names
    shared = {name: getattr(request, name) for name in DataRequest.model_fields}
    as_duels = DuelRequest(
        **shared,
        models=tuple(opponents),
        baseline=first,
        judge=request.judge,
        factuality="none",
        judge_sees=request.judge_sees,
        repeats=request.repeats,
        responses=request.responses,
    )
    acceptance = await accept_duels(as_duels, session, sparse=request.on_bad_sample == "skip")
    scores = None
    if request.scores is not None:
        scores = await asyncio.to_thread(_scores, request.scores, request.models)
    duels = acceptance.plan
    fields = {name: getattr(duels, name) for name in DuelPlan.model_fields}
    fields |= {"candidates": (_first_model(duels), *duels.candidates), "baseline": None, "baseline_name": ""}
    plan = ArenaPlan(**fields, draw=request.draw, rounds=rounds, scores=scores)
    return Accepted(
        plan=plan,
        estimate=expected_calls(plan, acceptance.samples),
        samples=acceptance.samples,
        values=acceptance.values,
        skipped=acceptance.skipped,
        first=acceptance.first,
    )


def _first_model(duels: DuelPlan) -> ModelSpec:
    """Return the model in the baseline's place; it is not asked if its answers already exist."""
    name = duels.baseline_name
    return duels.baseline or ModelSpec(ref=ModelRef(name=name, model=name, endpoint=STORED))


def _scores(path: Path, models: tuple[str, ...]) -> dict[str, float]:
    """Return the models' scores in other benchmarks, from a file of ratings."""
    ratings = read_ratings(path)
    if any(rating.sample_id is not None for rating in ratings):
        raise DataError(f"{path}: scores of models have model and rating, and no id")
    scores = {rating.model: rating.rating for rating in ratings if rating.model in models}
    if not scores:
        raise DataError(f"{path}: scores none of the models that meet: {', '.join(models)}")
    return dict(sorted(scores.items()))


def expected_calls(plan: ArenaPlan, samples: Sequence[Sample]) -> Estimate:
    """Return the maximum number of calls and their tokens."""
    calls: list[ExpectedCalls] = []
    for size in map(size_of, samples):
        for spec in plan.answering:
            calls.append(ExpectedCalls(spec, plan.repeats, size.text + size.images_for(spec), ANSWER_TOKENS))
        input_tokens = INSTRUCTION_TOKENS + size.text + 2 * ANSWER_TOKENS
        if plan.judge_sees == "image":
            input_tokens += size.images_for(plan.judge)
        calls.append(ExpectedCalls(plan.judge, plan.per_sample * len(plan.places), input_tokens, JUDGED_TOKENS))
    items = plan.rounds + len(samples) * plan.per_sample  # The draw of a round is a row, too.
    return total_estimate(calls, len(samples), items=items)
