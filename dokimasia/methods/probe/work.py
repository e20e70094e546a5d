"""The work of a probe: sample by sample every judge under every evaluator, each judgement committed as it is made."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any

from dokimasia.domain.blindspots import Evaluator, paradigm_of
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.graphs.reasking import gathered
from dokimasia.methods.probe.arms import Arm
from dokimasia.methods.probe.bases import Bases
from dokimasia.methods.probe.detections import JUDGEMENTS, detected
from dokimasia.methods.probe.items import Gold, by_sample, golds_of, probes_kept
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import ProbeUnit, count_items, is_read, units_of, ways
from dokimasia.methods.probe.walking import JudgementOutcome, JudgementRequest, at, judged, read
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.results import ResultRow

READING = "reading"
"""What the rows of readings say that was done."""


async def stages(job: Job[ProbePlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the one stage: every judge judges everything that was made of the gold answers to every sample."""
    work = await asyncio.to_thread(ProbeWork, job)
    yield Stage(job.samples(), work.sample, items=work.items)


class ProbeWork:
    """Does the judgements of one probe that have no result yet."""

    def __init__(self, job: Job[ProbePlan]) -> None:
        """Take up what is put to the judges."""
        self._job, self._plan = job, job.plan
        self._probes = by_sample(probes_kept(job.home, job.plan))
        self._bases = Bases(job)
        self.items = count_items(job.plan, self._probes)

    async def sample(self, sample: Sample) -> None:
        """Do all judgements of what belongs to one sample, the judges and their evaluators at once."""
        golds = list(golds_of(self._probes[sample.id]))
        reference = await self._bases.reference(sample, golds) if self._plan.writer is not None else None
        await gathered(
            self._way(sample, arm, evaluator, golds, reference if new else None)
            for arm in self._plan.arms
            for evaluator, new in ways(self._plan, arm)
        )
        self._job.progress.samples_done += 1

    async def _way(
        self, sample: Sample, arm: Arm, evaluator: Evaluator, golds: Sequence[Gold], reference: ResultRow | None
    ) -> None:
        """Do the judgements of a sample by one judge under one evaluator."""
        if evaluator == "checkpoints":
            basis = await self._bases.criteria(sample, arm)
            units = [unit for gold in golds for unit in units_of(self._plan, arm, evaluator, False, sample.id, gold)]
            await self._phases(sample, arm, evaluator, units, basis)
        elif evaluator in ("gated", "right-or-wrong"):
            for gold in golds:
                basis = await self._bases.rubrics(sample, arm, gold) if evaluator == "gated" else None
                units = list(units_of(self._plan, arm, evaluator, False, sample.id, gold))
                await self._phases(sample, arm, evaluator, units, basis)
        else:
            new = reference is not None
            units = [unit for gold in golds for unit in units_of(self._plan, arm, evaluator, new, sample.id, gold)]
            await self._phases(sample, arm, evaluator, units, reference)

    async def _phases(
        self, sample: Sample, arm: Arm, evaluator: Evaluator, units: Sequence[ProbeUnit], basis: ResultRow | None
    ) -> None:
        """First judge the gold answers, then what is held against them, then have justifications read."""
        rows: dict[str, ResultRow] = {}
        for compared in (False, True):
            some = [unit for unit in units if unit.compared is compared]
            await self._judge(sample, arm, evaluator, some, basis, rows)
        await self._read(sample, [unit for unit in units if is_read(self._plan, unit)], rows)

    async def _judge(
        self,
        sample: Sample,
        arm: Arm,
        evaluator: Evaluator,
        units: Sequence[ProbeUnit],
        basis: ResultRow | None,
        rows: dict[str, ResultRow],
    ) -> None:
        """Judge what has no result yet, and put all results into `rows`."""
        left: list[ProbeUnit] = []
        for unit in units:
            row = self._job.finished(unit.name)
            rests = basis if basis is not None and basis.failure else rows.get(unit.first)
            if row is not None:
                rows[unit.name] = row
            elif rests is not None and rests.failure:
                rows[unit.name] = self._unjudged(sample, unit, rests)
                await self._job.finish(rows[unit.name])
            else:
                left.append(unit)
        left.sort(key=lambda unit: self._job.attempt(unit.name))
        by = "" if basis is None else basis.criteria_id or basis.value_ids[0]
        options = self._plan.options_of(arm, evaluator)
        for attempt, several in groupby(left, key=lambda unit: self._job.attempt(unit.name)):
            some = list(several)
            context = at(self._job.context, options, attempt)
            ended = await judged(JudgementRequest(self._job, sample, some, context, by))
            made = [await self._row(sample, unit, one, rows) for unit, one in zip(some, ended, strict=True)]
            rows |= {row.item: row for row in made}
            await self._job.finish(*made)

    async def _row(
        self, sample: Sample, unit: ProbeUnit, ended: JudgementOutcome, rows: dict[str, ResultRow]
    ) -> ResultRow:
        """Return the row of a judgement; its score says how far the judge did right by the item."""
        fields: dict[str, Any] = {"calls": ended.calls, **unit.arm.place, "repeat": unit.draw}
        if ended.failed:
            fields |= {"outcome": "failed", "failure": ended.failed, "reason": ended.reason[:500]}
            return self._job.row(sample, unit.name, **fields)
        fields |= {"value_ids": (*ended.judged, *ended.looks), "outcome": "made"}
        if unit.compared:
            store, type_ = self._job.context.store, JUDGEMENTS[paradigm_of(unit.evaluator)]
            first = rows[unit.first].value_ids[0] if unit.first else None
            gold = None if first is None else await store.get(type_, first)
            own = [await store.get(type_, id) for id in ended.judged]
            fields |= {"outcome": "scored", "score": detected(unit, gold, own).right}
        return self._job.row(sample, unit.name, **fields)

    def _unjudged(self, sample: Sample, unit: ProbeUnit, rests: ResultRow) -> ResultRow:
        """Return the row of a judgement that could not be made for want of what it rests on."""
        reason = f"nothing to judge by: {rests.reason}"[:500]
        failed: dict[str, Any] = {"outcome": "failed", "failure": rests.failure, "reason": reason}
        return self._job.row(sample, unit.name, **unit.arm.place, repeat=unit.draw, **failed)

    async def _read(self, sample: Sample, units: Sequence[ProbeUnit], rows: dict[str, ResultRow]) -> None:
        """Have the justifications read that are not read yet; of a failed judgement there is none."""
        reader = self._plan.reader
        fine = [unit for unit in units if rows[unit.name].failure is None]
        self._job.progress.items -= len(units) - len(fine)
        left = [unit for unit in fine if self._job.finished(unit.reading) is None]
        if reader is None or not left:
            return

        def nth(unit: ProbeUnit) -> int:
            """What is read may be a justification that was refused to be read, word by word, when its judgement failed."""
            return max(self._job.attempt(unit.reading), self._job.attempt(unit.name))

        left.sort(key=nth)
        options = GraphOptions(judge=reader.ref.name, models={reader.ref.name: reader})
        for attempt, several in groupby(left, key=nth):
            some = list(several)
            ids = [rows[unit.name].value_ids for unit in some]
            context = at(self._job.context, options, attempt)
            ended = await read(self._job, sample, some, ids, context)
            await self._job.finish(
                *(self._reading(sample, unit, one, reader.ref.name) for unit, one in zip(some, ended, strict=True))
            )

    def _reading(self, sample: Sample, unit: ProbeUnit, ended: JudgementOutcome, reader: str) -> ResultRow:
        how: dict[str, Any] = {"outcome": "made", "value_ids": ended.judged}
        if ended.failed:
            how = {"outcome": "failed", "failure": ended.failed, "reason": ended.reason[:500]}
        return self._job.row(sample, unit.reading, kind=READING, model=reader, calls=ended.calls, **how)
