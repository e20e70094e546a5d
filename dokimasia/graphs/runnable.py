"""Graphs as LangChain runnables: typed, streamed step by step, with a context that opens on demand."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar, cast, get_type_hints
from weakref import WeakKeyDictionary

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph as Drawing
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.options import GraphOptions
from dokimasia.errors import ConfigError, InputError, LoopRunning
from dokimasia.graphs import drive
from dokimasia.graphs.blocking import block_on
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.signatures import SIGNATURES, Signature
from dokimasia.graphs.walks import RecordingStore, resolved, walk_graph

C = TypeVar("C")
T = TypeVar("T")

CompiledGraph = CompiledStateGraph[Any, Context]

MODEL_FIELDS = ("model", "coder", "judge", "writer", "reader")
"""Fields of inputs that hold the name of a model."""

MODES: tuple[StreamMode, ...] = ("updates", "values")
"""What a graph streams: each step's update, and the state after it."""

INHERITED = ("verification",)
"""Graphs that wait for a person, by the checkpoints of the graph that contains them."""


def own_graph(name: str) -> GraphFile:
    """Return a graph of the package.

    Raises:
        KeyError: there is no graph of that name.
    """
    signature = SIGNATURES[name]
    module = importlib.import_module(f"dokimasia.graphs.{signature.module}")
    return cast("GraphFile", getattr(module, signature.graph) if signature.graph else module)


def signature_of(graph: GraphFile) -> Signature:
    """Return the signature of a graph; for a plug-in's graph, it is derived from the state.

    Whether a plug-in's graph asks a judge is known only when it asks: without a judge, it raises a ConfigError.
    """
    if graph.NAME in SIGNATURES:
        return SIGNATURES[graph.NAME]
    state = getattr(graph, "State", None)
    hints: dict[str, object] = {} if state is None else get_type_hints(state)
    fields = {name: _loose(hint) for name, hint in hints.items()}
    takes = cast("type", TypedDict(f"{graph.NAME}_state", fields, total=False))  # pyright: ignore
    return Signature("", takes, takes, options=getattr(graph, "OPTIONS", GraphOptions), judge="no")


def _loose(hint: object) -> object:
    """Return the type of a state's field that accepts a value in place of an id."""
    if hint is str:
        return Value | str
    if hint == list[str]:
        return list[Value | str]
    return hint


class SharedContext(Generic[C]):
    """A context that, in each event loop, the first of several concurrent users opens and the last one closes."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[C]]) -> None:
        """Open the context with `opening`."""
        self._opening = opening
        self._held: WeakKeyDictionary[asyncio.AbstractEventLoop, _Held] = WeakKeyDictionary()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[C]:
        """Yield the open context."""
        holder = self._held.setdefault(asyncio.get_running_loop(), _Held())
        async with holder.lock:
            if holder.users == 0:
                holder.context = await holder.stack.enter_async_context(self._opening())
            holder.users += 1
        try:
            yield cast("C", holder.context)
        finally:
            async with holder.lock:
                holder.users -= 1
                if holder.users == 0:
                    holder.context = None
                    await holder.stack.aclose()


@dataclass(eq=False)
class _Held:
    """A shared context in one event loop."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    users: int = 0
    context: object = None


class GraphRunnable(Runnable[Any, JsonObject]):
    """A graph as a LangChain runnable.

    `ainvoke` takes the graph's input as a mapping, with values or the ids of stored ones, and returns its final state.
    The output has the fields of `output_schema`. `astream` yields each step as `{node: update}`. In a pipe, and as a
    node of another graph, it gives its final state. Fields of the input that are unknown to the graph are ignored, so
    that the state of another graph can be its input. That graph's context and checkpoints have no effect on it.
    """

    def __init__(
        self,
        graph: GraphFile,
        opening: Callable[[], AbstractAsyncContextManager[Context]],
        *,
        values: bool,
        borrowed: bool = False,
    ) -> None:
        """Make a runnable.

        Args:
            graph: the graph.
            opening: opens the context of calls; concurrent calls share it.
            values: whether to return values in place of their ids.
            borrowed: whether the context belongs to the caller and its event loop.
        """
        allow_in_checkpoints()
        self.name = graph.NAME
        self._graph = graph
        self._signature = signature_of(graph)
        self._contexts = SharedContext(opening)
        self._values = values
        self._borrowed = borrowed

    @property
    def InputType(self) -> type:
        """The type of the input."""
        return self._signature.takes

    @property
    def OutputType(self) -> type:
        """The type of the output."""
        return self._signature.gives

    def get_graph(self, config: RunnableConfig | None = None) -> Drawing:
        """Return the graph's drawing."""
        return self._compiled.get_graph(config)

    @property
    def _compiled(self) -> CompiledGraph:
        return _compile(self._graph)

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: object) -> JsonObject:
        """Return the fields of the graph's final state that belong to its output.

        Raises:
            InputError: the input does not match the graph, or an argument is unknown.
            ConfigError: a requested model is not among the context's.
        """
        self._check_arguments(kwargs)
        return await self._run(input, config, None)

    async def astream(
        self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: object
    ) -> AsyncIterator[JsonObject]:
        """Yield each step as it ends: its node, and the node's changes of the state.

        Raises:
            InputError: the input does not match the graph, or an argument is unknown (`stream_mode` may be `updates`
                only).
        """
        self._check_arguments(kwargs)
        steps: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        task = asyncio.create_task(self._run(input, config, steps.put_nowait))
        task.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while (step := await steps.get()) is not None:
                yield step
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def atransform(
        self, input: AsyncIterator[JsonObject], config: RunnableConfig | None = None, **kwargs: object
    ) -> AsyncIterator[JsonObject]:
        """Yield the final state, for the next part of a pipe; parts of the input are merged."""
        merged: JsonObject = {}
        async for part in input:
            merged.update(self._mapping(part))
        yield await self.ainvoke(merged, config, **kwargs)

    def transform(
        self, input: Iterator[JsonObject], config: RunnableConfig | None = None, **kwargs: object
    ) -> Iterator[JsonObject]:
        """Yield the final state, for the next part of a pipe without an event loop; parts of the input are merged.

        Raises:
            LoopRunning: an event loop is already running, or the context belongs to one.
        """
        merged: JsonObject = {}
        for part in input:
            merged.update(self._mapping(part))
        yield self.invoke(merged, config, **kwargs)

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: object) -> JsonObject:
        """Return the graph's final state, for callers without an event loop.

        Raises:
            LoopRunning: an event loop is already running, or the context belongs to one.
        """
        return self._block_on(lambda: self.ainvoke(input, config, **kwargs), "invoke", "`await runnable.ainvoke(...)`")

    def stream(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: object) -> Iterator[JsonObject]:
        """Yield the steps once all of them have ended, for callers without an event loop.

        Raises:
            LoopRunning: an event loop is already running, or the context belongs to one.
        """

        async def steps() -> list[JsonObject]:
            return [step async for step in self.astream(input, config, **kwargs)]

        yield from self._block_on(steps, "stream", "`async for step in runnable.astream(...)`")

    def batch(
        self,
        inputs: list[JsonObject],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: object,
    ) -> list[JsonObject]:
        """Return the final states of several inputs, which share a context, for callers without an event loop.

        Raises:
            LoopRunning: an event loop is already running, or the context belongs to one.
        """

        async def states() -> list[JsonObject]:
            if not inputs:
                return []
            async with self._contexts.use():
                return await self.abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)

        return self._block_on(states, "batch", "`await runnable.abatch(...)`")

    def batch_as_completed(
        self,
        inputs: Sequence[JsonObject],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: object,
    ) -> Iterator[tuple[int, JsonObject]]:
        """Yield the final states of several inputs, each with its input's index, once all of them have ended.

        Raises:
            LoopRunning: an event loop is already running, or the context belongs to one.
        """

        async def states() -> list[tuple[int, JsonObject]]:
            if not inputs:
                return []
            async with self._contexts.use():
                ended = self.abatch_as_completed(inputs, config, return_exceptions=return_exceptions, **kwargs)
                return [cast("tuple[int, JsonObject]", state) async for state in ended]

        yield from self._block_on(states, "batch_as_completed", "`async for ... in runnable.abatch_as_completed(...)`")

    def _block_on(self, work: Callable[[], Awaitable[T]], called: str, instead: str) -> T:
        if self._borrowed:
            raise LoopRunning(
                f"{called} of {self.name!r}: its context belongs to an event loop: write {instead} there, or leave the "
                "context out, and each call opens one"
            )
        return block_on(work, called=f"{called} of {self.name!r}", instead=instead)

    async def _run(
        self, input: JsonObject, config: RunnableConfig | None, report: Callable[[JsonObject], None] | None
    ) -> JsonObject:
        """Return the final state, and report each step."""
        inputs = self._validate(input)
        settled: RunnableConfig = {**(config or {}), "recursion_limit": drive.RECURSION_LIMIT}
        async with self._contexts.use() as opened:
            _check_models(inputs, opened.options)
            if self._signature.judge == "with criteria" and "criteria" in inputs:
                check_judge(self._graph.NAME, opened.options.judge)
            store = RecordingStore(opened.store)

            async def walk(state: JsonObject, context: Context) -> JsonObject:
                final: JsonObject = {}
                async for part in self._compiled.astream(state, settled, context=context, stream_mode=list(MODES)):
                    mode, chunk = cast("tuple[str, JsonObject]", part)
                    if mode == "values":
                        final = chunk
                    elif report is not None:
                        report(self._output_values(chunk, store))
                return final

            state = await walk_graph(self._graph.NAME, inputs, replace(opened, store=store), walk)
            return self._output_values(self._output_of(state), store)

    def _output_of(self, state: JsonObject) -> JsonObject:
        """Return the fields of a final state that belong to the output, or all of them if the output names none."""
        fields = get_type_hints(self._signature.gives) or state
        return {name: value for name, value in state.items() if name in fields}

    def _check_arguments(self, arguments: JsonObject) -> None:
        """Check that a call has no arguments that the runnable does not support.

        Raises:
            InputError: it has some.
        """
        for name, value in arguments.items():
            if name != "stream_mode" or value not in ("updates", ["updates"]):
                raise InputError(
                    f"the graph {self.name!r} takes no {name}={value!r}: astream yields each step as {{node: update}}, "
                    "which is stream_mode='updates'"
                )

    def _output_values(self, part: JsonObject, store: RecordingStore) -> JsonObject:
        if not self._values:
            return part
        return cast("JsonObject", resolved(part, store.values))

    def _validate(self, input: JsonObject) -> JsonObject:
        """Return the part of an input that belongs to the graph.

        Raises:
            InputError: a field is missing, or is of another type.
        """
        fields = self._mapping(input)
        adapter = _adapter(self._signature.takes)
        if adapter is None:
            return fields
        try:
            return dict(adapter.validate_python(fields))
        except ValidationError as error:
            faults = {".".join(map(str, fault["loc"][:3])): fault["msg"] for fault in error.errors()}
            messages = "; ".join(f"{place}: {message}" for place, message in faults.items())
            raise InputError(f"the graph {self.name!r} cannot take this input: {messages}") from None

    def _mapping(self, input: object) -> JsonObject:
        """Return a copy of an input.

        Raises:
            InputError: it is not a mapping.
        """
        if not isinstance(input, Mapping):
            raise InputError(
                f"the graph {self.name!r} takes a mapping of its fields, such as {{'sample': ...}}, and not "
                f"{type(input).__name__}"
            )
        return dict(input)


def check_judge(graph: str, judge: str) -> None:
    """Check that a graph that asks a judge has one, so that no candidate judges itself.

    Raises:
        ConfigError: no judge is named.
    """
    if not judge:
        raise ConfigError(
            f"the graph {graph!r} needs a judge: judge=..., the name of a model from the configuration, of chat_models, or "
            "any LiteLLM name"
        )


def allow_in_checkpoints() -> None:
    """Register the package's values, which checkpoints of an enclosing graph may hold, with LangGraph's serializer.

    The serializer warns about each type that is not on its list of safe types, and refuses such types in strict mode. A
    saver without its own allow list cannot be given one, so the values are added to the serializer's list: they are
    frozen data, and constructing them runs only their validation. If the list does not exist, as in another version of
    LangGraph, nothing changes.
    """
    kinds: set[type[Value]] = {Value}
    parents = list(kinds)
    while parents:
        parents = [kind for parent in parents for kind in parent.__subclasses__() if kind not in kinds]
        kinds.update(parents)
    names = {(kind.__module__, kind.__name__) for kind in kinds if kind.__module__.startswith("dokimasia.domain.")}
    with suppress(ImportError):
        serializer = importlib.import_module("langgraph.checkpoint.serde._msgpack")
        safe = getattr(serializer, "SAFE_MSGPACK_TYPES", None)
        if isinstance(safe, frozenset) and not names <= safe:
            vars(serializer)["SAFE_MSGPACK_TYPES"] = safe | names


def borrowed(context: Context) -> Callable[[], AbstractAsyncContextManager[Context]]:
    """Return an opener for a context that the caller opens and closes."""
    return lambda: nullcontext(context)


def _check_models(inputs: JsonObject, options: GraphOptions) -> None:
    """Check that every model named in an input is among the context's.

    Raises:
        ConfigError: a model is not.
    """
    parts: list[JsonObject] = [inputs]
    for part in (*inputs.get("items", ()), *inputs.get("calls", ())):
        if isinstance(part, dict):
            parts.append(part)
    names: set[object] = set()
    for part in parts:
        has_response = bool(part.get("response"))
        names.update(part.get(field) for field in MODEL_FIELDS if not (field == "model" and has_response))
    strangers = sorted({name for name in names if isinstance(name, str) and name} - options.models.keys())
    if strangers:
        available = ", ".join(sorted(options.models)) or "none"
        raise ConfigError(f"not among the context's models: {', '.join(strangers)}; there are: {available}")


_COMPILED: dict[str, tuple[GraphFile, CompiledGraph]] = {}


def _compile(graph: GraphFile) -> CompiledGraph:
    """Return the compiled graph, which takes no checkpoints from an enclosing graph unless it waits for people."""
    cached = _COMPILED.get(graph.NAME)
    if cached is not None and cached[0] is graph:
        return cached[1]
    saver = None if graph.NAME in INHERITED else False
    compiled = graph.build().compile(checkpointer=saver, name=graph.NAME)
    _COMPILED[graph.NAME] = graph, compiled
    return compiled


@cache
def _adapter(type_: type) -> TypeAdapter[JsonObject] | None:
    """Return the validator of an input; None for a type that pydantic cannot read."""
    try:
        return cast("TypeAdapter[JsonObject]", TypeAdapter(type_))
    except PydanticUserError:
        return None
