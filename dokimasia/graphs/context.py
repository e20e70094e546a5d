"""What a graph's nodes are given beside their state: services and options, never checkpointed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from dokimasia.agents import Looking, PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Failed
from dokimasia.domain.look import Look
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import BlobStore, Gateway, RunStore
from dokimasia.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Context:
    """The services of one work item: the way to models, the store of values, the options, the seed.

    `prompts` replaces the package's own prompts where it is given. `blobs` is where images lie, and where those that a
    tool makes are put; it is needed where the options offer tools.
    """

    gateway: Gateway
    store: RunStore
    options: GraphOptions
    seed: int = 0
    prompts: PromptLibrary | None = None
    blobs: BlobStore | None = None

    @property
    def judge(self) -> ModelSpec:
        """How the judge is reached."""
        return self.options.spec(self.options.judge)

    @property
    def looking(self) -> Looking | None:
        """What a judge is offered to look closer with; None where the options offer no tool.

        Raises:
            ConfigError: tools are offered and there are no blobs to read images from.
        """
        if not self.options.tools:
            return None
        if self.blobs is None:
            raise ConfigError(
                "tools need the images: give the Context the blobs that hold them (Context(..., blobs=...))"
            )
        return Looking(self.options.tools, self.blobs, self.options.looks)

    def judge_of(self, node: str) -> ModelSpec:
        """How the judge that serves a node is reached; ordinarily one judge serves all."""
        return self.options.judge_of(node)


async def keep_looks(context: Context, looks: Sequence[Look]) -> list[str]:
    """Put what a judge looked at into the store and return the ids, in order."""
    return [await context.store.put(look) for look in looks]


class Failure(TypedDict, total=False):
    """The part of a state that says that a work item failed: a kind (empty: it did not) and a reason."""

    failed: str
    reason: str


def failed_update(failed: Failed) -> Failure:
    """Return the state update that ends a work item as failed."""
    return {"failed": failed.kind, "reason": failed.reason}
