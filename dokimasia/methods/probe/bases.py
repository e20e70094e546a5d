"""What judgements rest on, made once: criteria of a sample, rubrics of a gold answer, references that are made anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from dokimasia.agents import failure
from dokimasia.agents.editing import ANOTHER, edit_image
from dokimasia.domain.call import CallKeys, ModelSpec
from dokimasia.domain.density import domain_of
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import Failed
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.rubric import RubricOptions, RubricSet, RubricSource
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.graphs.blindspots import gold_rubrics, probing
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import cognitive_replay
from dokimasia.methods.probe.arms import Arm
from dokimasia.methods.probe.items import Gold
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import basis_item
from dokimasia.methods.probe.walking import at
from dokimasia.runs.work import Job, ending
from dokimasia.storage.results import ResultRow

REPLAY, RUBRICS = cast("GraphFile", cognitive_replay), cast("GraphFile", gold_rubrics)
PROBING = cast("GraphFile", probing)


class Bases:
    """Makes what judgements of a run rest on, or finds it made."""

    def __init__(self, job: Job[ProbePlan]) -> None:
        """Begin without any."""
        self._job, self._plan = job, job.plan

    async def criteria(self, sample: Sample, arm: Arm) -> ResultRow:
        """Return the row of a sample's criteria, made by cognitive replay as in an evaluation.

        A judge with tools goes by the criteria that it made without, so that the two differ in nothing else.
        """
        name = basis_item("criteria", arm.model, sample.id)
        found = self._job.finished(name)
        if found is not None:
            return found
        attempt = self._job.attempt(name)
        options = self._plan.options_of(arm._replace(tools=False), "checkpoints")
        inputs = {"sample": value_id(sample), **({"attempt": attempt} if attempt else {})}
        context = replace(self._job.context, options=options)
        state = await self._job.walk(REPLAY, inputs, name, context=context)
        store = self._job.context.store
        ended: dict[str, Any] = {"outcome": "made", "criteria_id": state.get("criteria")}
        if state.get("failed"):
            failed = await store.get(Failed, state["why"])
            ended = {"outcome": "failed", "failure": failed.kind, "reason": failed.reason}
        drawing = (await store.get(CallKeys, state["drawing"])).calls if state.get("drawing") else ()
        calls = (*state.get("calls", ()), *drawing)
        return await self._kept(
            sample, name, model=arm.model, chain_id=state.get("chain") or None, calls=calls, **ended
        )

    async def rubrics(self, sample: Sample, arm: Arm, gold: Gold) -> ResultRow:
        """Return the row of the must-right rubrics of a gold answer."""
        name = basis_item("rubrics", arm.model, sample.id, gold.key)
        found = self._job.finished(name)
        if found is not None:
            return found
        store = self._job.context.store
        source = RubricSource(
            sample_id=sample.id,
            sample=sample.digest,
            images=tuple(image.sha256 for image in sample.images),
            caption=gold.item.gold,
            domain=domain_of(sample),
        )
        told = self._plan.options_of(arm, "gated")
        options = RubricOptions(judge=told.judge, models=told.models, sources={sample.id: await store.put(source)})
        context = at(self._job.context, options, self._job.attempt(name))
        inputs = {"sample": value_id(sample), "answered": [], "responses": []}
        state = await self._job.walk(RUBRICS, inputs, name, context=context)
        ended: dict[str, Any] = ending(state)
        if not state.get("failed"):
            ended["value_ids"] = (state["made"],)
            if not (await store.get(RubricSet, state["made"])).rubrics:
                reason = "no must-right rubric of the gold answer keeps the rules that rubrics have"
                ended = {"outcome": "failed", "failure": "unparsable", "reason": reason}
        return await self._kept(sample, name, model=arm.model, calls=tuple(state.get("calls", ())), **ended)

    async def reference(self, sample: Sample, golds: Sequence[Gold]) -> ResultRow | None:
        """Return the row of a reference that is made anew for a sample; None where nobody makes any.

        A text is written by a model that is put the sample's request, an image made by an image model from the gold one.
        """
        name, writer = basis_item("reference", "", sample.id), self._plan.writer
        found = self._job.finished(name)
        if found is not None or writer is None:
            return found
        make = self._written if golds[0].item.task == "image-to-text" else self._another
        context = at(self._job.context, _options(writer), self._job.attempt(name))
        return await self._kept(sample, name, model=writer.ref.name, **await make(sample, golds[0], name, context))

    async def _written(self, sample: Sample, gold: Gold, name: str, context: Context) -> dict[str, Any]:
        inputs = {"sample": value_id(sample), "writer": context.options.judge, "calls": []}
        state = await self._job.walk(PROBING, inputs, name, context=context)
        ended: dict[str, Any] = {**ending(state.get("unwritten", {})), "calls": tuple(state.get("written", ()))}
        return ended | ({"value_ids": (state["reference"],)} if state.get("reference") else {})

    async def _another(self, sample: Sample, gold: Gold, name: str, context: Context) -> dict[str, Any]:
        """Every attempt is an image of its own, and the first of use is taken."""
        image = cast("ImageRef", gold.item.gold_image)
        calls: list[str] = []
        failed = failure("api_error", "no attempt was made")
        for attempt in range(context.attempt + 1):
            told = ANOTHER.format(prompt=sample.prompt)
            made = await edit_image(image, told, gateway=context.gateway, model=context.judge, attempt=attempt)
            calls += made.calls
            if made.image is not None and made.image.sha256 != image.sha256:
                return {"outcome": "made", "value_ids": (await context.store.put(made.image),), "calls": tuple(calls)}
            unchanged = failure("unparsable", f"{context.options.judge}: the image came back as it was")
            failed = made.failed or unchanged
            if failed.open:
                break
        return {"outcome": "failed", "failure": failed.kind, "reason": failed.reason, "calls": tuple(calls)}

    async def _kept(self, sample: Sample, name: str, **fields: Any) -> ResultRow:
        row = self._job.row(sample, name, kind="basis", **fields)
        await self._job.finish(row)
        return row


def _options(spec: ModelSpec) -> GraphOptions:
    return GraphOptions(judge=spec.ref.name, models={spec.ref.name: spec})
