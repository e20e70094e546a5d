"""The view of a sample of an evaluation: all of a run's data on it, as `show RUN --sample ID --json` prints it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import Answered, CheckpointScores, FailureKind, FinalAnswer, Response
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample

ItemOutcome = Literal["scored", "failed", "made"]


class View(BaseModel):
    """A part of a view; a field that has a default is left out of its JSON where it is empty."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True)

    @model_serializer(mode="wrap")
    def _without_empty_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = handler(self)
        for name, field in type(self).model_fields.items():
            if not field.is_required() and not fields[name]:
                del fields[name]
        return fields


class ReplayView(View):
    """The reference chain and the criteria of a sample, and where the judge looked closer to make them."""

    outcome: ItemOutcome
    failure: FailureKind | None
    reason: str | None
    chain: ReferenceChain | None
    criteria: CriteriaSet | None
    looks: tuple[Look, ...]
    calls: tuple[str, ...]


class CoverageView(View):
    """How much of the reference the criteria touch, and the sentences that they do not."""

    criteria: int
    sentences: int
    uncovered: tuple[str, ...]
    share: float


class CorrectedPoint(View):
    """What a person changed: the answer's verdict, or the score of a criterion, 0 where it is not stated."""

    what: str
    before: str | int | None = Field(alias="from")
    after: str | int | None = Field(alias="to")


class ExclusionView(View):
    """Who left a sample out of the figures, when and why."""

    sample: str
    item: str
    who: str
    at: str
    reason: str
    undo: bool
    changes: tuple[CorrectedPoint, ...]
    number: int


class CorrectionView(ExclusionView):
    """Who corrected an answer, and what; `stands` is false where it was judged again since."""

    stands: bool
    as_judged: Mapping[str, JsonValue]


class AnswerView(View):
    """An answer with its scores, or the reason why there are none."""

    model: str
    repeat: int
    score: float | None
    verdict: Answered | None
    stated: float | None
    stated_score: float | None
    length: int | None
    outcome: ItemOutcome
    failure: FailureKind | None
    reason: str | None
    final: FinalAnswer | None
    response: Response | None
    judgement: CheckpointScores | None
    looks: tuple[Look, ...]
    calls: tuple[str, ...]
    verdict_reason: str = Field(default="", description="the judge's sentence on whether the answer is right")
    corrected: CorrectionView | None = None

    @property
    def name(self) -> str:
        """The model's name, with the number of the repeat after the first."""
        if self.repeat:
            return f"{self.model} · repeat {self.repeat + 1}"
        return self.model


class EarlierAttempt(View):
    """An item that failed and was attempted again."""

    item: str
    next_attempt: int
    outcome: ItemOutcome
    failure: FailureKind | None
    reason: str | None


class SampleView(View):
    """Everything that an evaluation has on a sample."""

    run: str
    sample: Sample
    accepted: str | None
    judge: str | None
    replay: ReplayView | None
    coverage: CoverageView | None
    answers: tuple[AnswerView, ...]
    left_out: ExclusionView | None = None
    earlier: tuple[EarlierAttempt, ...] = ()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The sample's criteria in order; none without a judge, or if they failed."""
        if self.replay is None or self.replay.criteria is None:
            return ()
        return self.replay.criteria.criteria

    @property
    def images(self) -> list[str]:
        """The hashes of the sample's images, in order."""
        return [image.sha256 for image in self.sample.images]

    @property
    def failures(self) -> list[str]:
        """The kinds of failure of the criteria and of the answers, each once."""
        kinds = {answer.failure for answer in self.answers}
        if self.replay is not None:
            kinds.add(self.replay.failure)
        return sorted(kind for kind in kinds if kind is not None)

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """Every look that the judge took with its tools, and its subject, in order."""
        looks = [] if self.replay is None else [("criteria", look) for look in self.replay.looks]
        for answer in self.answers:
            looks += [(answer.name, look) for look in answer.looks]
        return looks

    @property
    def mean_scores(self) -> dict[str, float]:
        """The mean score of each model with one, over its scored repeats."""
        scores: dict[str, list[float]] = {}
        for answer in self.answers:
            if answer.score is not None:
                scores.setdefault(answer.model, []).append(answer.score)
        return {model: sum(values) / len(values) for model, values in scores.items()}
