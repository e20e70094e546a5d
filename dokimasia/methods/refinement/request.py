"""What a refinement is asked."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.options import Protocol
from dokimasia.runs.requests import Models, Option, RunRequest

MAX_ROUNDS, MAX_JUDGEMENTS = 5, 5

Strategy = Literal["again", "retry", "self", "peer", "all"]


class RefinementRequest(RunRequest):
    """Let the models of RUN (the beginning of its id, or `last`, will do) mend their failures, without training.

    RUN is an evaluation; a refinement stands for the run that it refines.

    Every arm takes up the same failed answers in the same words and differs in the feedback alone: again (told nothing),
    retry (told whether the answer was right), self (also the questions of failed atoms, never their answers), peer (also
    hints of models that solved them). The same command continues an interrupted refinement, or prints its results.
    """

    VERB: ClassVar[str] = "refine"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    strategy: Strategy = Field(
        default="all",
        description="What the models are told; self and peer always run again and retry beside them.",
    )
    rounds: int = Field(default=1, ge=1, le=MAX_ROUNDS, description="Rounds at most.")
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
        description="The share of failed atoms that no feedback names, scored apart, from two of an answer on; by default "
        "0.5, as published 0.",
    )
    judgements: int = Field(default=1, ge=1, le=MAX_JUDGEMENTS, description="Judgements of each new answer.")
    leak_judge: bool = Field(
        default=True,
        description="Let the judge look for leaks in what the certain rules let pass, before it is sent.",
    )
    hide_answer: bool = Field(default=False, description="Keep the model's earlier answer from it.")
    protocol: Protocol = Field(
        default="ours",
        description="published: as in the paper, without this project's departures (see docs/departures.md)",
    )
