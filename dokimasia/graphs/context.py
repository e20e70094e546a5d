"""The context of a graph's nodes: services and options, which are never checkpointed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypedDict, TypeVar

from dokimasia.agents import Ask, AskResult, Looking, PromptLibrary, ask
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.look import Look
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import BlobStore, Gateway, ValueStore
from dokimasia.errors import ConfigError

T = TypeVar("T")
Own = TypeVar("Own", bound=GraphOptions)


def services_of(context: "Context") -> dict[str, Any]:
    """Return the fields that all contexts share, to build a graph's own context from them."""
    return {service.name: getattr(context, service.name) for service in fields(Context)}


@dataclass(frozen=True, slots=True)
class Context:
    """The services of one work item: the gateway, the store of values, the options, the seed.

    `prompts`, if given, replaces the package's own prompts. `blobs` holds images, including those made by tools; it is
    required if the options offer tools. `attempt` is the number of retries after a failure (see `at_attempt`).
    `open_failures`, if given, collects failures that leave a call open (see `Failed.open`).
    """

    gateway: Gateway
    store: ValueStore
    options: GraphOptions
    seed: int = 0
    prompts: PromptLibrary | None = None
    blobs: BlobStore | None = None
    attempt: int = field(default=0, kw_only=True)
    open_failures: list[Failed] | None = field(default=None, kw_only=True)

    async def ask(
        self,
        request: Ask[T],
        *,
        node: str = "",
        model: str = "",
        attempt: int | None = None,
        rejected: Rejected | None = None,
    ) -> AskResult[T]:
        """Return the reply to a role's request; an unusable reply is sent back once, in the same step.

        Args:
            request: the role's request.
            node: the node whose judge is asked, if nodes have different judges.
            model: the displayed name of the model to ask instead of a judge.
            attempt: the only attempt to use, instead of the context's.
            rejected: an earlier reply to send back; the new reply is not sent back again.
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
        if self.open_failures is not None and result.value is None and result.failure.open:
            self.open_failures.append(result.failure)
        return result

    def at_attempt(self, attempt: int) -> Self:
        """Return the context for the nth retry of an item (0: the first attempt).

        A request replays the earlier attempts in order from the ledger and takes the first usable reply; only if there
        is none, it is sent under this attempt. Thus good replies are kept and failed requests repeated, without any
        code for it in the graphs.
        """
        return replace(self, attempt=attempt)

    @property
    def judge(self) -> ModelSpec:
        """The judge's model specification."""
        return self.options.spec(self.options.judge)

    @property
    def looking(self) -> Looking | None:
        """The tools with which a judge can look closer; None if the options offer none.

        Raises:
            ConfigError: tools are offered, but there are no blobs to read images from.
        """
        if not self.options.tools:
            return None
        if self.blobs is None:
            raise ConfigError(
                "tools need the images: give the Context the blobs that hold them (Context(..., blobs=...))"
            )
        return Looking(self.options.tools, self.blobs, self.options.looks)


Walk = Callable[[JsonObject, Context], Awaitable[JsonObject]]
"""Runs a graph from a state, in a context, and returns its final state."""


def own_options(context: Context, type_: type[Own], graph: str) -> Own:
    """Return the context's options as those of a graph that has its own type.

    Raises:
        ConfigError: the context has the options of another graph.
    """
    if not isinstance(context.options, type_):
        raise ConfigError(f"{graph} needs its own options: Context(options={type_.__name__}(...))")
    return context.options


async def keep_looks(context: Context, looks: Sequence[Look]) -> list[str]:
    """Store a judge's looks with tools, and return their ids in order."""
    return [await context.store.put(look) for look in looks]


class Failure(TypedDict, total=False):
    """The part of a state that records a failure: its kind (empty: none) and reason.

    Cognitive replay stores the reason as a value instead, since its state is checkpointed and must stay small.
    """

    failed: str
    reason: str


def failed_update(failed: Failed) -> Failure:
    """Return the state update that ends a work item as failed."""
    return {"failed": failed.kind, "reason": failed.reason}
