"""The work of a comparison: for each sample, every judge and method; each judgement is committed once it is made."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, cast

from dokimasia.algorithms.orders import drawn_orders
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.domain.judging.judgements import HumanRankings
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.graphs.evaluation.checkpoint_scoring import without_judge
from dokimasia.graphs.judging import batch_ranking, criteria_making, response_judging
from dokimasia.graphs.reasking import gather_all
from dokimasia.methods.judging.request import (
    RESTS_ON,
    Basis,
    JudgingPlan,
    JudgingUnit,
    auxiliary_of,
    basis_item,
    count_items,
    ranked_models,
    response_texts,
    units_of,
)
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow

BATCH_RANKING = cast("GraphFile", batch_ranking)
COGNITIVE_REPLAY = cast("GraphFile", cognitive_replay)
CRITERIA_MAKING = cast("GraphFile", criteria_making)
RESPONSE_JUDGING = cast("GraphFile", response_judging)
SCORING = cast("GraphFile", checkpoint_scoring)

KINDS = {"atom": "", "atom-no-chain": "", "pointwise": "pointwise", "scan": "scan", "atom-no-decomposition": "aspects"}
"""The kind of judgement that judges single responses, by method; empty for checkpoint scoring."""


async def stages(job: Job[JudgingPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage: every judge judges the responses to every ranked sample by every method."""
    work = await asyncio.to_thread(JudgingWork, job)
    yield Stage(job.samples(), work.judge_sample, items=work.items)


def _result_fields(state: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a row from the final state of a graph that makes a single value."""
    value_ids, calls = tuple(filter(None, [state.get("result")])), tuple(state.get("calls", ()))
    return {"calls": calls, "value_ids": value_ids, **outcome_fields(state)}


class JudgingWork:
    """Makes the missing judgements of a comparison."""

    def __init__(self, job: Job[JudgingPlan]) -> None:
        """Read the responses and the rankings."""
        self._job, self._plan = job, job.plan
        self._store = job.context.store
        rankings = find_values(job.home, HumanRankings, [job.plan.rankings])[job.plan.rankings]
        self._ranked = ranked_models(rankings.rankings)
        self._texts = response_texts(job.request.responses, job.request.data)
        self._auxiliary = response_texts(auxiliary_of(job.plan, job.request), job.request.data)
        self.items = count_items(job.plan, self._ranked)

    async def judge_sample(self, sample: Sample) -> None:
        """Make all judgements of the responses to a sample, judges in parallel."""
        models = self._ranked.get(sample.id, ())
        if models:
            texts = {model: self._texts[sample.id][model] for model in models}
            responses = await self._store_responses(sample, texts)
            await gather_all(self._judge_by(spec.ref.name, sample, responses) for spec in self._plan.judges)
        self._job.progress.samples_done += 1

    async def _store_responses(self, sample: Sample, texts: Mapping[str, str]) -> dict[str, str]:
        """Store responses and return their ids by model."""
        ids: dict[str, str] = {}
        for model, text in texts.items():
            ids[model] = await self._store.put(Response(sample=sample.digest, model=model, text=text))
        return ids

    async def _judge_by(self, judge: str, sample: Sample, responses: Mapping[str, str]) -> None:
        context = replace(self._job.context, options=self._plan.options_of(judge))
        bases: dict[Basis, ResultRow] = {}
        for basis in self._plan.bases:
            bases[basis] = await self._basis_row(basis, sample, judge, context, bases)
        for method in self._plan.asking_methods:
            units = units_of(self._plan, method, judge, sample.id, responses)
            await self._job.in_batches(units, partial(self._judge_units, sample, method, responses, bases, context))

    async def _judge_units(
        self,
        sample: Sample,
        method: str,
        responses: Mapping[str, str],
        bases: Mapping[Basis, ResultRow],
        context: Context,
        units: list[JudgingUnit],
    ) -> None:
        """Make the missing judgements of a judge by a method, and commit them."""

        def attempt_of(unit: JudgingUnit) -> int:
            return self._job.attempt(unit.name)

        unfinished = [unit for unit in units if self._job.stored_row(unit.name) is None]
        rests_on = [bases[basis] for basis in RESTS_ON[method]]
        failed_row = next((row for row in rests_on if row.outcome == "failed"), None)
        if failed_row is not None:
            await self._job.commit(*(self._unjudged(sample, unit, failed_row, responses) for unit in unfinished))
            return
        for attempt, group in groupby(sorted(unfinished, key=attempt_of), key=attempt_of):
            at_attempt = context.at_attempt(attempt)
            if method == "batch":
                for unit in group:
                    await self._job.commit(await self._rank_batch(sample, unit, responses, at_attempt))
            else:
                basis = rests_on[-1] if rests_on else None
                rows = await self._judge_responses(sample, method, list(group), responses, basis, at_attempt)
                await self._job.commit(*rows)

    async def _basis_row(
        self, basis: Basis, sample: Sample, judge: str, context: Context, bases: Mapping[Basis, ResultRow]
    ) -> ResultRow:
        """Return the row of a basis, which is made if it does not exist; `bases` are the existing ones."""
        name = basis_item(basis, judge, sample.id)
        row = self._job.stored_row(name)
        if row is not None:
            return row
        chain = bases.get("chain")
        if basis == "criteria" and chain is not None and chain.outcome == "failed":
            row = self._new_basis_row(sample, name, outcome="failed", failure=chain.failure, reason=chain.reason)
        elif basis in ("chain", "criteria"):
            row = await self._replay(basis, sample, name, context, chain)
        else:
            row = await self._make_criteria(basis, sample, name, context)
        await self._job.commit(row)
        return row

    async def _make_criteria(self, basis: Basis, sample: Sample, name: str, context: Context) -> ResultRow:
        """Return the row of criteria made without a chain, from auxiliary responses or from the question alone."""
        inputs: dict[str, object] = {"sample": value_id(sample)}
        if basis == "compared":
            response_ids = await self._store_responses(sample, self._auxiliary[sample.id])
            inputs |= {"auxiliary": list(response_ids.values())}
        at_attempt = context.at_attempt(self._job.attempt(name))
        state = await self._job.walk(CRITERIA_MAKING, inputs, name, context=at_attempt)
        return self._new_basis_row(sample, name, **_result_fields(state))

    async def _replay(
        self, basis: Basis, sample: Sample, name: str, context: Context, chain: ResultRow | None
    ) -> ResultRow:
        """Return the row of a chain, or of criteria drawn from it, made by cognitive replay as in an evaluation."""
        inputs: dict[str, object] = {"sample": value_id(sample)}
        if attempt := self._job.attempt(name):
            inputs |= {"attempt": attempt}
        inputs |= {"chain_only": True} if chain is None else {"chain": chain.chain_id, "agreed": "before"}
        state = await self._job.walk(COGNITIVE_REPLAY, inputs, name, context=context)
        fields = await cognitive_replay.replay_fields(state, self._store)
        return self._new_basis_row(sample, name, **fields)

    def _new_basis_row(self, sample: Sample, name: str, **fields: object) -> ResultRow:
        fields.pop("score", None)
        return self._job.row(sample, name, kind="basis", **fields)

    async def _rank_batch(
        self, sample: Sample, unit: JudgingUnit, responses: Mapping[str, str], context: Context
    ) -> ResultRow:
        ids = list(responses.values())
        orders = drawn_orders(len(ids), self._plan.orders, seed=[self._plan.seed, int(sample.digest[:12], 16)])
        inputs = {"sample": value_id(sample), "responses": [ids[position] for position in orders[unit.draw]]}
        state = await self._job.walk(BATCH_RANKING, inputs, unit.name, context=context)
        return self._job.row(sample, unit.name, repeat=unit.draw, **_result_fields(state))

    async def _judge_responses(
        self,
        sample: Sample,
        method: str,
        units: Sequence[JudgingUnit],
        responses: Mapping[str, str],
        basis: ResultRow | None,
        context: Context,
    ) -> list[ResultRow]:
        """Judge responses one at a time in a single graph run, and return their rows."""
        basis_id = "" if basis is None else basis.criteria_id or basis.chain_id or basis.value_ids[0]
        items: list[AnswerState] = []
        for unit in units:
            items.append({"model": unit.model, "arm": "", "repeat": unit.draw, "response": responses[unit.model]})
        name = f"{method}/{context.options.judge}/{sample.id}/{digest('items', [items, context.attempt])[:8]}"
        inputs: dict[str, object] = {"sample": value_id(sample)}
        criteria = ""
        if KINDS[method]:
            inputs |= {"how": KINDS[method], "basis": basis_id, "items": items}
            state = await self._job.walk(RESPONSE_JUDGING, inputs, name, context=context)
        else:
            criteria = basis_id
            inputs |= {"criteria": criteria, "items": [await self._undecided(item) for item in items]}
            state = await self._job.walk(SCORING, inputs, name, context=context)
        units_with_items = zip(units, state["items"], strict=True)
        return [await self._row(sample, unit, item, criteria) for unit, item in units_with_items]

    async def _undecided(self, item: AnswerState) -> AnswerState:
        """Return a graph item without a check of its final answer, on which no ranking depends."""
        response = await self._store.get(Response, item["response"])
        return {**item, "final": await self._store.put(without_judge(response, item["response"]))}

    async def _row(self, sample: Sample, unit: JudgingUnit, item: AnswerState, criteria: str) -> ResultRow:
        judgement = item.get("judgement")
        value_ids: tuple[str, ...] = ()
        if judgement and not item.get("failed"):
            value_ids = (judgement,)
            if criteria:
                item = {**item, "score": (await self._store.get(CheckpointScores, judgement)).score}
        return self._job.row(
            sample,
            unit.name,
            model=unit.model,
            repeat=unit.draw,
            response_id=item.get("response") or None,
            criteria_id=criteria or None,
            value_ids=value_ids,
            calls=tuple(item.get("calls", ())),
            **outcome_fields(item),
        )

    def _unjudged(self, sample: Sample, unit: JudgingUnit, basis: ResultRow, responses: Mapping[str, str]) -> ResultRow:
        """Return the row of a judgement that failed because its basis failed."""
        return self._job.row(
            sample,
            unit.name,
            model=unit.model,
            repeat=unit.draw,
            response_id=responses.get(unit.model),
            outcome="failed",
            failure=basis.failure,
            reason=f"nothing to judge by: {basis.reason}"[:500],
        )
