"""The work of an audit: sample by sample, all answers at once, each committed as it is finished."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from dokimasia.domain.identity import value_id
from dokimasia.domain.sample import Sample
from dokimasia.gateway.events import GatewayStats
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.log import logger
from dokimasia.methods.audit.plan import KIND, AuditItem, AuditPlan
from dokimasia.runs.observer import Observer, Progress
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, get_result, record_result


class AuditWorker:
    """Does the items of one audit that have no result yet."""

    def __init__(
        self, *, home: Home, plan: AuditPlan, context: Context, observer: Observer, stats: Callable[[], GatewayStats]
    ) -> None:
        """Prepare the work."""
        self._home, self._plan, self._run = home, plan, plan.run_id
        self._context, self._observer, self._stats = context, observer, stats
        self._graph = drive.compiled(cast("GraphFile", rubric_audit))
        self.progress = Progress()

    def report(self) -> None:
        """Tell the observer how far it is."""
        self.progress.stats = self._stats()
        self._observer.progressed(self.progress)

    async def do(self, sample: Sample) -> None:
        """Do all items of a sample that have no result."""
        open_items: list[AuditItem] = []
        for item in self._plan.items(sample.id):
            row = get_result(self._home, self._run, item.name)
            if row is None:
                open_items.append(item)
            else:
                self.progress.restored += 1
                self.progress.count(row.failure)
        if open_items:
            entered = [{"model": item.model, "arm": item.arm, "repeat": item.repeat} for item in open_items]
            inputs = {"sample": value_id(sample), "rubrics": self._plan.sets[sample.id], "items": entered}
            state = await drive.run(self._graph, inputs, context=self._context)
            ended = zip(open_items, state["items"], strict=True)
            await asyncio.gather(*(self._finish(_row(self._run, sample, item, one)) for item, one in ended))
        self.progress.samples_done += 1

    async def _finish(self, row: ResultRow) -> None:
        await record_result(self._home, row)
        self.progress.count(row.failure)
        if row.failure is not None:
            logger(__name__).info("item failed", item=row.item, kind=row.failure, reason=row.reason)


def _row(run: str, sample: Sample, item: AuditItem, ended: rubric_audit.Item) -> ResultRow:
    fields: dict[str, Any] = {
        "run_id": run,
        "item": item.name,
        "kind": KIND,
        "sample_id": sample.id,
        "sample_digest": sample.digest,
        "model": item.model,
        "arm": item.arm,
        "repeat": item.repeat,
        "response_id": ended.get("response") or None,
        "calls": tuple(ended.get("calls", ())),
    }
    if ended.get("failed"):
        fields |= {"failure": ended["failed"], "reason": ended.get("reason", "")}
        return ResultRow(**fields, outcome="failed")
    return ResultRow(**fields, outcome="scored", score=ended["score"], value_ids=(ended["judgement"],))
