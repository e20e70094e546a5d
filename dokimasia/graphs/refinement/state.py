"""What the graph of self-correction keeps between its steps, and the values that its ids name."""

import operator
from typing import Annotated, Literal, TypedDict

from langgraph.runtime import Runtime

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.options import Protocol
from dokimasia.domain.refinement import Answered, Arm, Stopped
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure

Todo = Literal["write_hints", "check_hints", "rewrite_hints", ""]
"""The node that is to do something about the hints next; empty: none."""


class State(Failure, TypedDict, total=False):
    """Ids of values in the store, small numbers, and where the work stands.

    Given: `sample`, `criteria`, `chain` (of the reference, may be empty), `source` and `source_judgement` (the response to
    refine and its judgement), `model`, `arm`, `repeat`; `rounds`, `withhold` (a share), `judgements` (draws of the judge an
    answer), `below` (whether the answer's score is below a threshold; absent: it is a wrong final answer that fails),
    `leak_judge` (whether the judge looks for leaks in what the rules let pass; absent: it does), `hide_answer`,
    `protocol`. The arm `original` is given `needs_points`, whether an answer without a point to feed back is left as it is,
    and `looks_again`, whether one more judgement is drawn of one that is not, and `final` where the evaluation has decided
    whether the answer is right; all others `answered` (whether the source is
    right) and `selection`; the arm `peer`, by atom number, `peers`: pairs of a model's name and the id of its response, in
    order of choice.

    Made: `steps`, the ids of a `RefinementStep` a round; the rest is of the round at work. `scores` are the atoms' last.
    """

    sample: str
    criteria: str
    chain: str
    source: str
    source_judgement: str
    model: str
    arm: Arm
    repeat: int
    rounds: int
    withhold: float
    judgements: int
    below: bool
    leak_judge: bool
    hide_answer: bool
    protocol: Protocol
    needs_points: bool
    looks_again: bool
    selection: str
    peers: dict[str, list[list[str]]]
    round: int
    draw: int
    scores: list[float]
    feedback: str
    todo: Todo
    response: str
    final: str
    answered: Answered
    judged: list[str]
    decided: str
    calls: list[str]
    stopped: Stopped
    steps: Annotated[list[str], operator.add]


async def given(state: State, runtime: Runtime[Context]) -> tuple[Context, Sample, CriteriaSet]:
    """Return the context, the sample and its criteria."""
    store = runtime.context.store
    return runtime.context, await store.get(Sample, state["sample"]), await store.get(CriteriaSet, state["criteria"])


async def solved_answer(state: State, context: Context) -> str | None:
    """Return the final answer of the reference chain, where there is one."""
    return (await context.store.get(ReferenceChain, state["chain"])).answer if state.get("chain") else None


def as_published(state: State) -> bool:
    """Whether feedback is given as in the paper."""
    return state.get("protocol") == "published"
