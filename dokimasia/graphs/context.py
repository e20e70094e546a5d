"""What a graph's nodes are given beside their state: services and options, never checkpointed."""

from dataclasses import dataclass
from typing import TypedDict

from dokimasia.agents import PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Failed
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import Gateway, RunStore


@dataclass(frozen=True, slots=True)
class Context:
    """The services of one work item: the way to models, the store of values, the options, the seed.

    `prompts` replaces the package's own prompts where it is given.
    """

    gateway: Gateway
    store: RunStore
    options: GraphOptions
    seed: int = 0
    prompts: PromptLibrary | None = None

    @property
    def judge(self) -> ModelSpec:
        """How the judge is reached."""
        return self.options.spec(self.options.judge)

    def judge_of(self, node: str) -> ModelSpec:
        """How the judge that serves a node is reached; ordinarily one judge serves all."""
        return self.options.judge_of(node)


class Failure(TypedDict, total=False):
    """The part of a state that says that a work item failed: a kind (empty: it did not) and a reason."""

    failed: str
    reason: str


def failed_update(failed: Failed) -> Failure:
    """Return the state update that ends a work item as failed."""
    return {"failed": failed.kind, "reason": failed.reason}
