"""Execution of graphs in this process, with checkpoints and less frequent garbage collection."""

import gc
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from dokimasia.domain.judgement import Failed
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import CompiledGraph, GraphFile
from dokimasia.graphs.steps import Steps
from dokimasia.graphs.watched import at_item

COLLECTOR = (50_000, 10, 10)
"""Thresholds of the garbage collector while graphs run (see `gc.set_threshold`)."""

_thresholds: list[tuple[tuple[int, int, int], bool]] = []
"""The previous thresholds and whether objects were excluded, one entry for each `reduced_gc` in progress."""


@contextmanager
def reduced_gc() -> Iterator[None]:
    """Collect cyclic garbage less often, and exclude existing objects.

    A run creates hundreds of small values per call, nearly all freed by reference counting. With Python's default
    thresholds, a quarter of a run's time goes into traversing modules and schemas that are never freed. The last of
    several concurrent runs restores the thresholds. If the calling program has excluded objects itself, the set of
    excluded objects stays as it is.
    """
    freezes = not _thresholds and not gc.get_freeze_count()
    if freezes:
        gc.freeze()
    _thresholds.append((gc.get_threshold(), freezes))
    gc.set_threshold(*COLLECTOR)
    try:
        yield
    finally:
        before, frozen = _thresholds.pop()
        if not _thresholds:
            gc.set_threshold(*before)
            if frozen:
                gc.unfreeze()


@dataclass(frozen=True, slots=True)
class GraphRun:
    """One execution of a graph for an item.

    Attributes:
        graph: the graph's file.
        inputs: the initial state: ids and small primitives.
        item: the item whose steps are reported.
        context: the context of its nodes.
        thread: the id under which its steps are saved, so that it resumes from the last one; empty to save none.
    """

    graph: GraphFile
    inputs: Mapping[str, Any]
    item: str
    context: Context
    thread: str = ""


class Executor(Protocol):
    """Executes graphs for items."""

    @property
    def processes(self) -> int:
        """The number of processes in which graphs run."""
        ...

    async def execute(self, walk: GraphRun) -> dict[str, Any]:
        """Return the final state: ids and small primitives.

        Raises:
            CallFailed: a call failed in a way that the graph does not handle.
            Interrupted: the work was told to stop.
        """
        ...


class CompletedStepSaver(BaseCheckpointSaver[str]):
    """Saves steps up to the first one with an open request: the budget is exhausted, or a person has not answered.

    A resumed execution repeats that step with its open requests. If the step were saved, the execution would continue
    as if there were no answer, since only this process knows the open requests.
    """

    def __init__(self, saver: BaseCheckpointSaver[str]) -> None:
        """Save steps with `saver`."""
        super().__init__(serde=saver.serde)
        self._saver = saver
        self.open: dict[str, Sequence[Failed]] = {}
        """Failures of open requests, by running thread."""

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the saver's next version of a channel."""
        return self._saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the step named by a configuration, or the last step of its thread."""
        return await self._saver.aget_tuple(config)

    def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """Yield steps, newest first."""
        return self._saver.alist(config, **options)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a step, unless a request of the thread is open."""
        if not self._left_open(config):
            return await self._saver.aput(config, checkpoint, metadata, new_versions)
        where = {name: config["configurable"].get(name, "") for name in ("thread_id", "checkpoint_ns")}
        return {"configurable": {**where, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a task's writes, unless a request of the thread is open."""
        if not self._left_open(config):
            await self._saver.aput_writes(config, writes, task_id, task_path)

    def _left_open(self, config: RunnableConfig) -> bool:
        return bool(self.open.get(config["configurable"]["thread_id"]))


class LocalExecutor:
    """Executes graphs in this process and event loop; each graph is compiled once."""

    processes = 1

    def __init__(self, saver: BaseCheckpointSaver[str], steps: Steps | None = None) -> None:
        """Save steps with `saver`, and report them to `steps`, if given."""
        self._saver = CompletedStepSaver(saver)
        self._steps = steps
        self._graphs: dict[tuple[str, bool], CompiledGraph] = {}

    async def execute(self, walk: GraphRun) -> dict[str, Any]:
        """Return the final state of a graph; a thread resumes from its last checkpoint.

        Every step of a thread is checkpointed before the next begins (`durability="sync"`). A thread is finished when
        no tasks remain; `next` alone is also empty if a process died after saving a task's writes and before saving the
        checkpoint that includes them.
        """
        graph = self._compiled(walk.graph, checkpointed=bool(walk.thread))
        with at_item(walk.item):
            if not walk.thread:
                run = drive.walk_straight if getattr(walk.graph, "STRAIGHT", False) else drive.run
                return await run(graph, walk.inputs, context=walk.context)
            open_failures = [] if walk.context.open_failures is None else walk.context.open_failures
            context = replace(walk.context, open_failures=open_failures)
            config: RunnableConfig = {
                "configurable": {"thread_id": walk.thread},
                "recursion_limit": drive.RECURSION_LIMIT,
            }
            self._saver.open[walk.thread] = open_failures
            try:
                has_checkpoint = (
                    await self._saver.aget_tuple(config) is not None
                )  # `aget_state` costs as much as a step
                if has_checkpoint and not (state := await graph.aget_state(config)).tasks:
                    return dict(state.values)
                inputs = None if has_checkpoint else dict(walk.inputs)
                return await graph.ainvoke(inputs, config, context=context, durability="sync")
            finally:
                del self._saver.open[walk.thread]

    def _compiled(self, graph: GraphFile, *, checkpointed: bool) -> CompiledGraph:
        key = (graph.NAME, checkpointed)
        if key not in self._graphs:
            self._graphs[key] = drive.compiled(graph, self._saver if checkpointed else None, steps=self._steps)
        return self._graphs[key]
