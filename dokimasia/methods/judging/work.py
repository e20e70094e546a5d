"""The work of a comparison: sample by sample every judge by every method, each judgement committed as it is made."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, cast

from dokimasia.algorithms.orders import drawn_orders
from dokimasia.domain.call import CallKeys
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import CheckpointScores, Failed, Response
from dokimasia.domain.judging.judgements import HumanRankings
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.graphs.evaluation.checkpoint_scoring import by_nobody
from dokimasia.graphs.judging import batch_ranking, criteria_making, response_judging
from dokimasia.graphs.reasking import gathered
from dokimasia.methods.judging.accepting import Texts, auxiliary_of, texts_of
from dokimasia.methods.judging.request import JudgingPlan
from dokimasia.methods.judging.units import (
    RESTS_ON,
    Basis,
    JudgingUnit,
    asked_methods,
    bases_of,
    basis_item,
    count_items,
    ranked_models,
    units_of,
)
from dokimasia.runs.work import Job, Stage, ending
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow

REPLAY, SCORING = cast("GraphFile", cognitive_replay), cast("GraphFile", checkpoint_scoring)
KINDS = {"atom": "", "atom-no-chain": "", "pointwise": "pointwise", "scan": "scan", "atom-no-decomposition": "aspects"}
"""By method, how responses are judged one at a time; empty: by checkpoint scoring."""


async def stages(job: Job[JudgingPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the one stage: every judge judges the responses to every sample that people ranked, by every method."""
    work = await asyncio.to_thread(JudgingWork, job)
    yield Stage(job.samples(), work.sample, items=work.items)


class JudgingWork:
    """Does the judgements of one comparison that have no result yet."""

    def __init__(self, job: Job[JudgingPlan]) -> None:
        """Read the responses, and what people ranked."""
        self._job, self._plan = job, job.plan
        rankings = find_values(job.home, HumanRankings, [job.plan.rankings])[job.plan.rankings]
        self._ranked = ranked_models(rankings.rankings)
        self._texts = texts_of(job.request.responses)
        self._auxiliary: Texts = texts_of(auxiliary_of(job.plan, job.request))
        self.items = count_items(job.plan, self._ranked)

    async def sample(self, sample: Sample) -> None:
        """Do all judgements of the responses to one sample, the judges at once."""
        models = self._ranked.get(sample.id, ())
        if models:
            texts = {model: self._texts[sample.id][model] for model in models}
            responses = await self._kept(sample, texts)
            await gathered(self._judge(sample, spec.ref.name, responses) for spec in self._plan.judges)
        self._job.progress.samples_done += 1

    async def _kept(self, sample: Sample, texts: Mapping[str, str]) -> dict[str, str]:
        """Put responses into the store and return their ids by model."""
        store = self._job.context.store
        return {
            model: await store.put(Response(sample=sample.digest, model=model, text=text))
            for model, text in texts.items()
        }

    async def _judge(self, sample: Sample, judge: str, responses: Mapping[str, str]) -> None:
        context = replace(self._job.context, options=self._plan.options_of(judge))
        bases: dict[Basis, ResultRow] = {}
        for basis in bases_of(self._plan):
            bases[basis] = await self._basis(basis, sample, judge, context, bases)
        for method in asked_methods(self._plan):
            units = units_of(self._plan, method, judge, sample.id, responses)
            do = partial(self._judged, sample, method, responses, bases, context)
            await self._job.in_parts(units, do)

    async def _judged(
        self,
        sample: Sample,
        method: str,
        responses: Mapping[str, str],
        bases: Mapping[Basis, ResultRow],
        context: Context,
        units: list[JudgingUnit],
    ) -> None:
        """Do some judgements of one judge by one method that have no result yet, and commit what comes of them."""
        left = [unit for unit in units if self._job.finished(unit.name) is None]
        rests = next((bases[one] for one in RESTS_ON[method] if bases[one].outcome == "failed"), None)
        if rests is not None:
            await self._job.finish(*(self._unjudged(sample, unit, rests, responses) for unit in left))
            return
        left.sort(key=lambda unit: self._job.attempt(unit.name))
        for attempt, several in groupby(left, key=lambda unit: self._job.attempt(unit.name)):
            at = context.at_attempt(attempt) if attempt else context
            if method == "batch":
                for unit in several:
                    await self._job.finish(await self._batch(sample, unit, responses, at))
            else:
                by = bases[RESTS_ON[method][-1]] if RESTS_ON[method] else None
                await self._job.finish(*await self._each(sample, method, list(several), responses, by, at))

    async def _basis(
        self, basis: Basis, sample: Sample, judge: str, context: Context, made: Mapping[Basis, ResultRow]
    ) -> ResultRow:
        """Return the row of what judgements rest on, making it where it is not there."""
        name = basis_item(basis, judge, sample.id)
        row = self._job.finished(name)
        if row is not None:
            return row
        chain = made.get("chain")
        if basis == "criteria" and chain is not None and chain.outcome == "failed":
            row = self._basis_row(sample, name, outcome="failed", failure=chain.failure, reason=chain.reason)
        elif basis in ("chain", "criteria"):
            row = await self._replayed(basis, sample, name, context, chain)
        else:
            attempt = self._job.attempt(name)
            inputs: dict[str, Any] = {"sample": value_id(sample)}
            if basis == "compared":
                inputs["auxiliary"] = list((await self._kept(sample, self._auxiliary[sample.id])).values())
            at = context.at_attempt(attempt) if attempt else context
            state = await self._job.walk(cast("GraphFile", criteria_making), inputs, name, context=at)
            values = {"value_ids": (state["result"],)} if state.get("result") else {}
            row = self._basis_row(sample, name, calls=tuple(state.get("calls", ())), **values, **ending(state))
        await self._job.finish(row)
        return row

    async def _replayed(
        self, basis: Basis, sample: Sample, name: str, context: Context, chain: ResultRow | None
    ) -> ResultRow:
        """Return the row of a chain, or of the criteria drawn from it: cognitive replay as an evaluation walks it."""
        inputs: dict[str, Any] = {"sample": value_id(sample)}
        if attempt := self._job.attempt(name):
            inputs["attempt"] = attempt
        if chain is None:
            inputs["chain_only"] = True
        else:
            inputs |= {"chain": chain.chain_id, "agreed": "before"}
        state = await self._job.walk(REPLAY, inputs, name, context=context)
        store = self._job.context.store
        ended: dict[str, Any] = {"outcome": "made"}
        if state.get("failed"):
            failed = await store.get(Failed, state["why"])
            ended = {"outcome": "failed", "failure": failed.kind, "reason": failed.reason}
        elif basis == "criteria":
            ended["criteria_id"] = state["criteria"]
        drawing = (await store.get(CallKeys, state["drawing"])).calls if state.get("drawing") else ()
        calls = (*state.get("calls", ()), *drawing)
        return self._basis_row(sample, name, chain_id=state.get("chain") or None, calls=calls, **ended)

    async def _batch(
        self, sample: Sample, unit: JudgingUnit, responses: Mapping[str, str], context: Context
    ) -> ResultRow:
        ids = list(responses.values())
        orders = drawn_orders(len(ids), self._plan.orders, seed=[self._plan.seed, int(sample.digest[:12], 16)])
        inputs = {"sample": value_id(sample), "responses": [ids[place] for place in orders[unit.draw]]}
        state = await self._job.walk(cast("GraphFile", batch_ranking), inputs, unit.name, context=context)
        values = {"value_ids": (state["result"],)} if state.get("result") else {}
        calls = tuple(state.get("calls", ()))
        return self._job.row(sample, unit.name, repeat=unit.draw, calls=calls, **values, **ending(state))

    async def _each(
        self,
        sample: Sample,
        method: str,
        units: Sequence[JudgingUnit],
        responses: Mapping[str, str],
        by: ResultRow | None,
        context: Context,
    ) -> list[ResultRow]:
        """Judge responses one at a time, all in one walk, and return their rows."""
        basis = "" if by is None else by.criteria_id or by.chain_id or by.value_ids[0]
        items: list[AnswerState] = [
            {"model": unit.model, "arm": "", "repeat": unit.draw, "response": responses[unit.model]} for unit in units
        ]
        name = f"{method}/{context.options.judge}/{sample.id}/{digest('items', [items, context.attempt])[:8]}"
        inputs: dict[str, Any] = {"sample": value_id(sample)}
        if KINDS[method]:
            inputs |= {"how": KINDS[method], "basis": basis, "items": items}
            state = await self._job.walk(cast("GraphFile", response_judging), inputs, name, context=context)
        else:
            inputs |= {"criteria": basis, "items": [await self._undecided(item) for item in items]}
            state = await self._job.walk(SCORING, inputs, name, context=context)
        ended = zip(units, state["items"], strict=True)
        return [await self._row(sample, unit, one, basis if not KINDS[method] else "") for unit, one in ended]

    async def _undecided(self, item: AnswerState) -> AnswerState:
        """Return an item of which nobody asks whether its final answer is right: no ranking rests on that."""
        store = self._job.context.store
        response = await store.get(Response, item["response"])
        return {**item, "final": await store.put(by_nobody(response, item["response"]))}

    async def _row(self, sample: Sample, unit: JudgingUnit, ended: AnswerState, criteria: str) -> ResultRow:
        judgement = ended.get("judgement")
        fields: dict[str, Any] = {}
        if judgement and not ended.get("failed"):
            fields["value_ids"] = (judgement,)
            if criteria:
                score = (await self._job.context.store.get(CheckpointScores, judgement)).score
                ended = {**ended, "score": score}
        return self._job.row(
            sample,
            unit.name,
            model=unit.model,
            repeat=unit.draw,
            response_id=ended.get("response") or None,
            criteria_id=criteria or None,
            calls=tuple(ended.get("calls", ())),
            **fields,
            **ending(ended),
        )

    def _unjudged(self, sample: Sample, unit: JudgingUnit, rests: ResultRow, responses: Mapping[str, str]) -> ResultRow:
        """Return the row of a judgement that could not be made for want of what it rests on."""
        reason = f"nothing to judge by: {rests.reason}"[:500]
        response = responses.get(unit.model)
        failed: dict[str, Any] = {"outcome": "failed", "failure": rests.failure, "reason": reason}
        return self._job.row(sample, unit.name, model=unit.model, repeat=unit.draw, response_id=response, **failed)

    def _basis_row(self, sample: Sample, name: str, **fields: Any) -> ResultRow:
        fields.pop("score", None)
        return self._job.row(sample, name, kind="basis", **fields)
