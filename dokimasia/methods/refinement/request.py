"""The request and the plan of a refinement: the source run, the arms and their limits."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, Protocol
from dokimasia.domain.refinement import ARMS, Arm
from dokimasia.runs.plans import AnyOrder, RunPlan
from dokimasia.runs.requests import SUBSAMPLE_HELP, Models, Option, RunRequest, Subsample

MAX_ROUNDS, MAX_JUDGEMENTS = 5, 5

Strategy = Literal["again", "retry", "self", "peer", "all"]

STRATEGIES: dict[Strategy, tuple[Arm, ...]] = {
    "again": ("original", "again"),
    "retry": ("original", "retry"),
    "self": ("original", "again", "retry", "self"),
    "peer": ("original", "again", "retry", "peer"),
    "all": ARMS,
}
"""The arms of each strategy: feedback is always compared with repeating the same prompt and with a bare retry."""

WITHHELD: dict[Protocol, float] = {"default": 0.5, "published": 0.0}
"""The default share of withheld failed criteria."""

LIMITS = {"rounds", "judgements", "leak_judge", "hide_answer", "protocol"}
"""Limits of an arm, with the same option names in request, plan and graph."""

SEEN_BY_JUDGE = {"show_image", "tools", "looks", "tolerance"}
"""Options of judge and rules, with the same names in both plans and in the graph's options."""


class RefinementRequest(RunRequest):
    """Have the models of RUN (the beginning of its id, or `last`) correct their own wrong answers, without training.

    RUN is an evaluation. To extend a refinement, name its evaluation again, with more --rounds.

    All arms start from the same failed answers with the same wording and differ only in the feedback: again (none),
    retry (whether the answer was right), self (also the questions of failed criteria, never their answers), peer (also
    hints of models that solved them). The same command continues an interrupted refinement, or prints its results.
    """

    VERB: ClassVar[str] = "refine"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    strategy: Strategy = Field(
        default="all",
        description="What the models are told; self and peer always run again and retry beside them.",
    )
    rounds: int = Field(default=1, ge=1, le=MAX_ROUNDS, description="Maximum number of rounds.")
    threshold: float | None = Field(
        default=None,
        gt=1,
        le=5,
        description="Take up answers that score below this, right or wrong, in place of those whose final answer is "
        "wrong; what is right is told so, and reported apart.",
    )
    models: Models = Field(default=(), description="Only these models' failures, separated by commas.")
    peers: Models = Field(default=(), description="Only these models give hints, separated by commas.")
    withhold: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="The share of failed criteria that no feedback names, scored apart, from two of an answer on; by default "
        "0.5, as published 0.",
    )
    judgements: int = Field(default=1, ge=1, le=MAX_JUDGEMENTS, description="Judgements of each new answer.")
    leak_judge: bool = Field(
        default=True,
        description="Have the judge look for leaks in feedback that the rules let pass, before it is sent.",
    )
    hide_answer: bool = Field(default=False, description="Do not show the model its earlier answer.")
    subsample: Subsample = Field(default=None, description=f"{SUBSAMPLE_HELP} (by default all of RUN).")
    protocol: Protocol = Field(
        default="default",
        description="published: as in the paper, without this project's departures (see docs/departures.md)",
    )


class RefinementPlan(RunPlan):
    """The plan of a refinement: source run, models, peers, judge, arms and options.

    `taken` is a hash of the source run's answers and judgements on the refined samples, so that a refinement of a
    changed run or of other samples is a different one. `protocol` is the protocol of the feedback; `scored_as` is that
    of the source run's scoring.
    """

    source: str
    taken: str
    judge: ModelSpec
    candidates: Annotated[tuple[ModelSpec, ...], AnyOrder]
    peers: Annotated[tuple[ModelSpec, ...], AnyOrder] = ()
    arms: tuple[Arm, ...]
    rounds: int = 1
    threshold: float | None = None
    withhold: float = 0.5
    judgements: int = 1
    leak_judge: bool = True
    hide_answer: bool = False
    protocol: Protocol = "default"
    show_image: bool = False
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    tolerance: float = TOLERANCE
    scored_as: Protocol = "default"

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models by name, the judge last; a judge that also answers has the judge's settings."""
        return {spec.ref.name: spec for spec in (*self.peers, *self.candidates, self.judge)}

    @property
    def judge_name(self) -> str:
        """The judge's displayed name."""
        return self.judge.ref.name

    @property
    def names_points(self) -> bool:
        """Whether an arm's feedback names points; if so, answers without points are left out of all arms."""
        return not {"self", "peer"}.isdisjoint(self.arms)

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        published = self.scored_as == "published"
        return GraphOptions(
            judge=self.judge_name, models=self.models, published=published, **self.model_dump(include=SEEN_BY_JUDGE)
        )
