"""What a graph's nodes are given beside their state: services and options, never checkpointed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypedDict, TypeVar

from dokimasia.agents import Ask, AskResult, Looking, PromptLibrary, ask
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.look import Look
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import BlobStore, Gateway, RunStore
from dokimasia.errors import ConfigError

T = TypeVar("T")
Own = TypeVar("Own", bound=GraphOptions)


@dataclass(frozen=True, slots=True)
class Context:
    """The services of one work item: the way to models, the store of values, the options, the seed.

    `prompts` replaces the package's own prompts where it is given. `blobs` is where images lie, and where those that a
    tool makes are put; it is needed where the options offer tools. `attempt` counts how often the item was taken up
    anew after it had failed (see `at_attempt`). `refused` takes in what was left open, where a list is given.
    """

    gateway: Gateway
    store: RunStore
    options: GraphOptions
    seed: int = 0
    prompts: PromptLibrary | None = None
    blobs: BlobStore | None = None
    attempt: int = field(default=0, kw_only=True)
    refused: list[Failed] | None = field(default=None, kw_only=True)

    async def ask(
        self,
        request: Ask[T],
        *,
        node: str = "",
        model: str = "",
        attempt: int | None = None,
        rejected: Rejected | None = None,
    ) -> AskResult[T]:
        """Ask what a role asks; a reply that cannot be used is sent back once, in the same step.

        Args:
            what: what is asked.
            node: whose judge is asked, where nodes have judges of their own.
            model: in place of a judge, the shown name of the model that is asked.
            attempt: ask under this attempt alone, whatever the context's is.
            rejected: an earlier reply to send back; the reply to that is not sent back again.
        """
        result = await ask(
            request,
            gateway=self.gateway,
            model=self.options.spec(model) if model else self.options.judge_of(node),
            attempts=range(self.attempt + 1) if attempt is None else (attempt,),
            rejected=rejected,
            library=self.prompts,
            looking=self.looking if request.tools else None,
        )
        if self.refused is not None and result.value is None and result.failure.open:
            self.refused.append(result.failure)
        return result

    def at_attempt(self, attempt: int) -> Self:
        """Return the context in which an item that failed is taken up anew for the nth time (0: for the first time).

        What is asked in it goes through the earlier attempts in order, which the ledger answers, and takes the first
        reply that can be used; only where there is none it is asked under this attempt. So what was good stays, and
        what failed is asked anew, without a word of it in any graph.
        """
        return replace(self, attempt=attempt)

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


def own_options(context: Context, type_: type[Own], graph: str) -> Own:
    """Return the options of a graph that has a type of its own for them.

    Raises:
        ConfigError: the context has those of another graph.
    """
    if not isinstance(context.options, type_):
        raise ConfigError(f"{graph} needs its own options: Context(options={type_.__name__}(...))")
    return context.options


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
