"""The work of a probe: for each sample, every judge and evaluator; each judgement is committed once it is made."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, NamedTuple, cast

from dokimasia.agents import failure
from dokimasia.agents.candidate import stated_answer
from dokimasia.agents.editing import ANOTHER, edit_image
from dokimasia.domain.blindspots import Evaluator, paradigm_of
from dokimasia.domain.density import domain_of
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import OPEN_KINDS, Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.rubric import RubricOptions, RubricSet, RubricSource
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.context import Context, Failure
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.graphs.evaluation.checkpoint_scoring import without_judge
from dokimasia.graphs.probe import deciding, gold_rubrics, probing
from dokimasia.graphs.reasking import gather_all
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.methods.probe.detections import JUDGEMENTS, detect
from dokimasia.methods.probe.request import Arm, ProbePlan, options_of_model
from dokimasia.methods.probe.units import (
    Gold,
    ProbeUnit,
    basis_item,
    count_items,
    golds_of,
    is_read,
    probes_by_sample,
    stored_probes,
    units_of,
)
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.results import ResultRow

PROBING, DECIDING = cast("GraphFile", probing), cast("GraphFile", deciding)
REPLAY, SCORING = cast("GraphFile", cognitive_replay), cast("GraphFile", checkpoint_scoring)
RUBRICS, AUDIT = cast("GraphFile", gold_rubrics), cast("GraphFile", rubric_audit)

READING = "reading"
"""The kind of the rows of readings."""


class JudgementOutcome(NamedTuple):
    """The result of a judgement: ids of its values (for a pair, in both orders) and looks, or its failure."""

    values: tuple[str, ...]
    looks: tuple[str, ...]
    calls: tuple[str, ...]
    failed: str = ""
    reason: str = ""

    @property
    def failure_fields(self) -> dict[str, object]:
        """The failure as fields of a result row."""
        return {"outcome": "failed", "failure": self.failed, "reason": self.reason[:500]}


async def stages(job: Job[ProbePlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage: every judge judges all gold answers and probes of every sample."""
    work = await asyncio.to_thread(ProbeWork, job)
    yield Stage(job.samples(), work.sample, items=work.items)


class ProbeWork:
    """Makes the missing judgements of a probe."""

    def __init__(self, job: Job[ProbePlan]) -> None:
        """Read the stored probes."""
        self._job, self._plan = job, job.plan
        self._probes = probes_by_sample(stored_probes(job.home, job.plan))
        self.items = count_items(job.plan, self._probes)

    async def sample(self, sample: Sample) -> None:
        """Make all judgements of a sample, judges and evaluators in parallel."""
        golds = golds_of(self._probes[sample.id])
        reference = None
        if self._plan.writer is not None:
            reference = await new_reference(self._job, sample, golds[0])
        await gather_all(
            self._evaluator(sample, arm, evaluator, golds, reference if new else None)
            for arm in self._plan.arms
            for evaluator, new in self._plan.evaluators_of(arm)
        )
        self._job.progress.samples_done += 1

    async def _evaluator(
        self, sample: Sample, arm: Arm, evaluator: Evaluator, golds: Sequence[Gold], reference: ResultRow | None
    ) -> None:
        """Make the judgements of a sample by one judge under one evaluator."""
        new = reference is not None

        def units(chosen: Sequence[Gold]) -> list[ProbeUnit]:
            all_units: list[ProbeUnit] = []
            for gold in chosen:
                all_units += units_of(self._plan, arm, evaluator, sample.id, gold, new_reference=new)
            return all_units

        basis = reference
        if evaluator in ("gated", "right-or-wrong"):
            for gold in golds:
                if evaluator == "gated":
                    basis = await rubrics_of_gold(self._job, sample, arm, gold)
                await self._judge_and_read(sample, units([gold]), basis)
            return
        if evaluator == "checkpoints":
            basis = await criteria_of_sample(self._job, sample, arm)
        await self._judge_and_read(sample, units(golds), basis)

    async def _judge_and_read(self, sample: Sample, units: Sequence[ProbeUnit], basis: ResultRow | None) -> None:
        """Judge the gold answers, the probes compared with them and both padded forms, then read justifications."""
        rows: dict[str, ResultRow] = {}
        padded = [unit for unit in units if unit.case == "padded"]
        await self._judge(sample, [unit for unit in units if not unit.compared], basis, rows)
        await self._judge(sample, [unit for unit in units if unit.compared and unit not in padded], basis, rows)
        await self._judge(sample, padded, basis, rows)
        await self._read_justifications(sample, [unit for unit in units if is_read(self._plan, unit)], rows)

    async def _judge(
        self, sample: Sample, units: Sequence[ProbeUnit], basis: ResultRow | None, rows: dict[str, ResultRow]
    ) -> None:
        """Judge the units without a result, and add all results to `rows`."""
        job = self._job
        open_units: list[ProbeUnit] = []
        for unit in units:
            row = job.stored_row(unit.name)
            base = basis if basis is not None and basis.failure else rows.get(unit.first)
            if row is not None:
                rows[unit.name] = row
            elif base is not None and base.failure:
                rows[unit.name] = self._row_without_basis(sample, unit, base)
                await job.commit(rows[unit.name])
            else:
                open_units.append(unit)
        basis_id = "" if basis is None else basis.criteria_id or basis.value_ids[0]
        open_units.sort(key=lambda unit: job.attempt(unit.name))
        for attempt, group in groupby(open_units, key=lambda unit: job.attempt(unit.name)):
            batch = list(group)
            outcomes = await judge(job, sample, batch, basis_id, attempt)
            new_rows: list[ResultRow] = []
            for unit, outcome in zip(batch, outcomes, strict=True):
                row = await self._row(sample, unit, outcome, rows)
                rows[unit.name] = row
                new_rows.append(row)
            await job.commit(*new_rows)

    async def _row(
        self, sample: Sample, unit: ProbeUnit, outcome: JudgementOutcome, rows: dict[str, ResultRow]
    ) -> ResultRow:
        """Return the row of a judgement; its score is the judge's success on the item, 0 to 1."""
        fields: dict[str, object] = {"calls": outcome.calls, **unit.arm.row_fields, "repeat": unit.draw}
        if outcome.failed:
            return self._job.row(sample, unit.name, **fields, **outcome.failure_fields)
        fields |= {"value_ids": (*outcome.values, *outcome.looks), "outcome": "made"}
        if unit.compared:
            store, type_ = self._job.context.store, JUDGEMENTS[paradigm_of(unit.evaluator)]
            gold = await store.get(type_, rows[unit.first].value_ids[0]) if unit.first else None
            judgements = [await store.get(type_, id) for id in outcome.values]
            fields |= {"outcome": "scored", "score": detect(unit, gold, judgements).right}
        return self._job.row(sample, unit.name, **fields)

    def _row_without_basis(self, sample: Sample, unit: ProbeUnit, basis: ResultRow) -> ResultRow:
        """Return the row of a judgement that failed because its basis failed."""
        return self._job.row(
            sample,
            unit.name,
            **unit.arm.row_fields,
            repeat=unit.draw,
            outcome="failed",
            failure=basis.failure,
            reason=f"nothing to judge by: {basis.reason}"[:500],
        )

    async def _read_justifications(
        self, sample: Sample, units: Sequence[ProbeUnit], rows: dict[str, ResultRow]
    ) -> None:
        """Read the justifications that have no result yet; a failed judgement has none."""
        job, reader = self._job, self._plan.reader
        judged_units = [unit for unit in units if rows[unit.name].failure is None]
        job.progress.items -= len(units) - len(judged_units)
        open_units = [unit for unit in judged_units if job.stored_row(unit.reading) is None]
        if reader is None:
            return

        def attempt_of(unit: ProbeUnit) -> int:
            """Return the attempt number of a reading, which includes the attempts of its judgement.

            A repeated justification may equal one whose reading failed; the new number avoids the old reply in the
            ledger.
            """
            return max(job.attempt(unit.reading), job.attempt(unit.name))

        open_units.sort(key=attempt_of)
        for attempt, group in groupby(open_units, key=attempt_of):
            batch = list(group)
            ids = [rows[unit.name].value_ids for unit in batch]
            context = context_of(job, options_of_model(reader), attempt)
            outcomes = await read(job, sample, batch, ids, context)
            new_rows: list[ResultRow] = []
            for unit, outcome in zip(batch, outcomes, strict=True):
                result_fields = (
                    outcome.failure_fields if outcome.failed else {"outcome": "made", "value_ids": outcome.values}
                )
                fields = {"kind": READING, "model": reader.ref.name, "calls": outcome.calls, **result_fields}
                new_rows.append(job.row(sample, unit.reading, **fields))
            await job.commit(*new_rows)


def context_of(job: Job[ProbePlan], options: GraphOptions, attempt: int) -> Context:
    """Return the job's context with one judge's options, for an item's nth attempt."""
    return replace(job.context, options=options).at_attempt(attempt)


async def judge(
    job: Job[ProbePlan], sample: Sample, units: Sequence[ProbeUnit], basis: str, attempt: int
) -> list[JudgementOutcome]:
    """Return the outcomes of a judge's judgements on a sample under an evaluator, in order.

    Published evaluators use the probe's graph; evaluators in use have their own. `basis` is the id of criteria, rubrics
    or a new reference; empty without a basis.
    """
    evaluator = units[0].evaluator
    context = context_of(job, job.plan.options_of(units[0].arm, evaluator), attempt)
    name = f"walk/{digest('walk', [*(unit.name for unit in units), attempt])[:16]}"
    inputs: dict[str, object] = {"sample": value_id(sample)}
    if evaluator == "checkpoints":
        inputs |= {"criteria": basis, "items": await _answers(sample, units, context, with_final=True)}
        graph = SCORING
    elif evaluator == "gated":
        inputs |= {"rubrics": basis, "items": await _answers(sample, units, context)}
        graph = AUDIT
    elif evaluator == "right-or-wrong":
        gold, _ = stated_answer(units[0].gold.item.gold)
        with_gold = sample.model_copy(update={"reference_answer": gold, "reference_answers": ()})
        inputs = {"sample": await context.store.put(with_gold), "items": await _answers(sample, units, context)}
        graph = DECIDING
    else:
        calls = [call for unit in units for call in _calls(unit, basis)]
        inputs |= {"judge": context.options.judge, "calls": calls}
        state = await job.walk(PROBING, inputs, name, context=context)
        return [_outcome(unit_calls, "judgement") for unit_calls in _calls_by_unit(units, state["calls"])]
    state = await job.walk(graph, inputs, name, context=context)
    return [_outcome([item], "judgement") for item in state["items"]]


async def read(
    job: Job[ProbePlan], sample: Sample, units: Sequence[ProbeUnit], ids: Sequence[Sequence[str]], context: Context
) -> list[JudgementOutcome]:
    """Return the reader's findings in the justifications of judgements.

    For an answer with an error, the reader says whether that error is named; for any other, whether any error is.
    """
    reader = context.options.judge
    calls: list[probing.Call] = []
    for unit, judgements in zip(units, ids, strict=True):
        for call, id in zip(_calls(unit, ""), judgements, strict=True):
            calls.append({**call, "judgement": id, "reader": reader, "any_error": unit.case != "error"})
    name = f"read/{digest('read', [*(unit.name for unit in units), context.attempt])[:16]}"
    state = await job.walk(PROBING, {"sample": value_id(sample), "calls": calls}, name, context=context)
    return [_outcome(unit_calls, "noticed", "unread") for unit_calls in _calls_by_unit(units, state["calls"])]


def _calls(unit: ProbeUnit, reference: str) -> list[probing.Call]:
    """Return the graph's calls for an item: one or, for a pair, two, first the call with the gold answer first."""
    answer: probing.Which = "gold" if unit.probe is None else "perturbed"
    call: probing.Call = {"item": value_id(unit.perturbed), "evaluator": unit.evaluator, "repeat": unit.draw}
    if unit.evaluator.startswith("pairwise"):
        orders: list[tuple[probing.Which, probing.Which]] = [("gold", answer), (answer, "gold")]
        return [{**call, "first": first, "second": second} for first, second in orders[: unit.judgements]]
    if reference:
        return [{**call, "first": answer, "reference": reference}]
    return [{**call, "first": answer}]


def _calls_by_unit(units: Sequence[ProbeUnit], calls: Sequence[probing.Call]) -> Iterator[Sequence[probing.Call]]:
    """Yield the consecutive calls of each unit."""
    start = 0
    for unit in units:
        yield calls[start : start + unit.judgements]
        start += unit.judgements


def _outcome(
    calls: Sequence[AnswerState | probing.Call],
    value: Literal["judgement", "noticed"],
    failure: Literal["", "unread"] = "",
) -> JudgementOutcome:
    """Return the outcome of an item's calls; a failed call fails the item.

    Args:
        calls: the final states of the calls.
        value: key of a call's value.
        failure: key of the state with the failure; empty for the call itself.
    """
    values: list[str] = []
    looks: list[str] = []
    keys: list[str] = []
    failures: dict[str, str] = {}
    for call in calls:
        failed_state: Failure = call.get(failure, {}) if failure else call
        if kind := failed_state.get("failed"):
            failures.setdefault(kind, failed_state.get("reason", ""))
        if id := call.get(value):
            values.append(id)
        looks += call.get("looks", ())
        keys += call.get("calls", ())
    worst = next((kind for kind in (*OPEN_KINDS, *failures) if kind in failures), "")
    return JudgementOutcome(tuple(values), tuple(looks), tuple(keys), worst, failures.get(worst, ""))


async def _answers(
    sample: Sample, units: Sequence[ProbeUnit], context: Context, *, with_final: bool = False
) -> list[AnswerState]:
    """Return existing answers as graph inputs; `with_final` adds an undecided final answer."""
    items: list[AnswerState] = []
    for unit in units:
        model, text = "gold", unit.perturbed.gold
        if unit.probe is not None:
            model, text = "perturbed", unit.perturbed.perturbed
        response = Response(sample=sample.digest, model=model, repeat=unit.draw, text=text)
        id = await context.store.put(response)
        item: AnswerState = {"model": model, "arm": "", "repeat": unit.draw, "response": id}
        if with_final:
            item["final"] = await context.store.put(without_judge(response, id))
        items.append(item)
    return items


async def criteria_of_sample(job: Job[ProbePlan], sample: Sample, arm: Arm) -> ResultRow:
    """Return the row of a sample's criteria, made by cognitive replay as in an evaluation.

    A judge with tools uses the criteria that it made without tools, so that both arms differ only in the tools.
    """
    name = basis_item("criteria", arm.model, sample.id)
    row = job.stored_row(name)
    if row is not None:
        return row
    inputs: dict[str, object] = {"sample": value_id(sample)}
    if attempt := job.attempt(name):
        inputs |= {"attempt": attempt}
    options = job.plan.options_of(arm._replace(tools=False), "checkpoints")
    state = await job.walk(REPLAY, inputs, name, context=replace(job.context, options=options))
    fields = await cognitive_replay.replay_fields(state, job.context.store)
    return await _finish_basis(job, sample, name, arm.model, **fields)


async def rubrics_of_gold(job: Job[ProbePlan], sample: Sample, arm: Arm, gold: Gold) -> ResultRow:
    """Return the row of the must-right rubrics of a gold answer."""
    name = basis_item("rubrics", arm.model, sample.id, gold.key)
    row = job.stored_row(name)
    if row is not None:
        return row
    store = job.context.store
    source = RubricSource(
        sample_id=sample.id,
        sample=sample.digest,
        images=tuple(image.sha256 for image in sample.images),
        caption=gold.item.gold,
        domain=domain_of(sample),
    )
    judge_options = job.plan.options_of(arm, "gated")
    options = RubricOptions(
        judge=judge_options.judge, models=judge_options.models, sources={sample.id: await store.put(source)}
    )
    inputs = {"sample": value_id(sample), "answered": [], "responses": []}
    state = await job.walk(RUBRICS, inputs, name, context=context_of(job, options, job.attempt(name)))
    fields: dict[str, object] = outcome_fields(state)
    if not state.get("failed"):
        rubrics_id: str = state["made"]
        fields |= {"value_ids": (rubrics_id,)}
        if not (await store.get(RubricSet, rubrics_id)).rubrics:
            reason = "no rubric of the gold answer keeps the rules that rubrics have"
            fields = {"outcome": "failed", "failure": "unparsable", "reason": reason}
    return await _finish_basis(job, sample, name, arm.model, calls=tuple(state.get("calls", ())), **fields)


async def new_reference(job: Job[ProbePlan], sample: Sample, gold: Gold) -> ResultRow | None:
    """Return the row of a sample's new reference; None without a writer.

    A text is a model's answer to the sample's request; an image is made by an image model from the gold image.
    """
    name, writer = basis_item("reference", "", sample.id), job.plan.writer
    row = job.stored_row(name)
    if row is not None or writer is None:
        return row
    context = context_of(job, options_of_model(writer), job.attempt(name))
    if gold.item.task == "text-to-image":
        fields = await _another_image(sample, gold, context)
    else:
        inputs = {"sample": value_id(sample), "writer": writer.ref.name, "calls": []}
        state = await job.walk(PROBING, inputs, name, context=context)
        fields: dict[str, object] = {
            **outcome_fields(state.get("unwritten", {})),
            "calls": tuple(state.get("written", ())),
        }
        if state.get("reference"):
            fields |= {"value_ids": (state["reference"],)}
    return await _finish_basis(job, sample, name, writer.ref.name, **fields)


async def _another_image(sample: Sample, gold: Gold, context: Context) -> dict[str, object]:
    """Return another image made from the gold one, the first usable one of several attempts."""
    image = cast("ImageRef", gold.item.gold_image)
    instruction = ANOTHER.format(prompt=sample.prompt)
    calls: list[str] = []
    problem = failure("api_error", "no attempt was made")
    for attempt in range(context.attempt + 1):
        edited = await edit_image(image, instruction, gateway=context.gateway, model=context.judge, attempt=attempt)
        calls += edited.calls
        if edited.image is not None and edited.image.sha256 != image.sha256:
            return {"outcome": "made", "value_ids": (await context.store.put(edited.image),), "calls": tuple(calls)}
        unchanged = failure("unparsable", f"{context.options.judge}: the image came back as it was")
        problem = edited.failed or unchanged
        if problem.open:
            break
    return {"outcome": "failed", "failure": problem.kind, "reason": problem.reason, "calls": tuple(calls)}


async def _finish_basis(job: Job[ProbePlan], sample: Sample, name: str, model: str, **fields: object) -> ResultRow:
    row = job.row(sample, name, kind="basis", model=model, **fields)
    await job.commit(row)
    return row
