"""Image perturbing: a model writes how the gold image is to be edited for one dimension of error, an image model edits it.

    instruct ─► edit ─► end

What came back unchanged, or, where a model checks it, not as it was told to be, is a failure with its reason. What was
changed beside is kept with what the checker saw: people decide. Straight, so it runs without checkpoints: the ledger
carries it over any crash.
"""

import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.asking import failure
from dokimasia.agents.editing import (
    changed_share,
    check_edit,
    edit_image,
    not_carried_out,
    unusable,
    write_edit_instruction,
)
from dokimasia.agents.perturbation import error_dimensions
from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.judgement import Failed
from dokimasia.domain.perturbation import EditCheck, EditInstruction, EditRecord, NotApplicable, PerturbOptions
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import ConfigError, ToolFailure
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.versions import VERSIONS

NAME = "image_perturbing"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """Ids of the sample, whose one image is the gold one, of the instruction, of what was made and of how it came about.

    `dimension` is a name. `result` holds the ids of a `Perturbed` and of its `EditRecord`; or, where the image cannot be
    edited in that dimension, of a `NotApplicable`, and nothing failed.
    """

    sample: str
    dimension: str
    instruction: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def instruct(state: State, runtime: Runtime[Context]) -> State:
    """Have the instruction written."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    dimension = error_dimensions("text-to-image")[state["dimension"]]
    asked = await context.ask(write_edit_instruction(sample, dimension))
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    if asked.value.unsuited:
        none = NotApplicable(
            sample=sample.digest, dimension=dimension.name, why=asked.value.unsuited, provenance=asked.provenance
        )
        return {"calls": asked.calls, "result": [await context.store.put(none)]}
    return {"calls": asked.calls, "instruction": await context.store.put(asked.value)}


async def edit(state: State, runtime: Runtime[Context]) -> State:
    """Have the image edited, and the edit looked at; every attempt is an edit of its own, and the first of use is taken."""
    context = runtime.context
    options = own_options(context, PerturbOptions, NAME)
    blobs = _blobs(context)
    sample = await context.store.get(Sample, state["sample"])
    told = await context.store.get(EditInstruction, state["instruction"])
    gold, editor = sample.images[0], options.spec(options.editor)
    calls: list[str] = []
    failed = failure("api_error", "no attempt was made")
    for attempt in range(context.attempt + 1):
        edited = await edit_image(gold, told.instruction, gateway=context.gateway, model=editor, attempt=attempt)
        calls += edited.calls
        if edited.image is None:
            failed = edited.failed or failed
            if failed.open:
                break
            continue
        changed, check, problem, asked_of = await _looked_at(context, options, blobs, gold, edited.image, told)
        calls += asked_of
        if problem is not None:
            failed = problem
            if failed.open:
                break
            continue
        made = Perturbed(
            sample=sample.digest,
            sample_id=sample.id,
            task="text-to-image",
            dimension=state["dimension"],
            gold_image=gold,
            perturbed_image=edited.image,
            description=told.change,
            instruction=told.instruction,
            by=options.judge,
        )
        id = await context.store.put(made)
        record = EditRecord(perturbed=id, changed=changed, call=edited.calls[0], check=check)
        return {"calls": calls, "result": [id, await context.store.put(record)]}
    return {"calls": calls, **failed_update(failed)}


async def _looked_at(
    context: Context,
    options: PerturbOptions,
    blobs: BlobStore,
    gold: ImageRef,
    image: ImageRef,
    told: EditInstruction,
) -> tuple[float, EditCheck | None, Failed | None, list[str]]:
    """Return the share of changed pixels, what the checker saw, why the edit is of no use, and the calls that it took."""

    def compared() -> tuple[float, str]:
        before, after = blobs.get(gold.sha256), blobs.get(image.sha256)
        share = 0.0 if before == after else changed_share(before, after)
        return share, unusable(before, after, share)

    try:
        changed, wrong = await asyncio.to_thread(compared)
    except ToolFailure as problem:
        return 0.0, None, failure("unparsable", str(problem)), []
    if wrong:
        return changed, None, failure("unparsable", f"{options.editor}: {wrong}"), []
    if not options.checker:
        return changed, None, None, []
    asked = await context.ask(check_edit(gold, image, told), model=options.checker)
    if asked.value is None:
        return changed, None, asked.failure, asked.calls
    wrong = not_carried_out(asked.value)
    problem = failure("unparsable", f"{options.editor}: {wrong}") if wrong else None
    return changed, asked.value, problem, asked.calls


def _blobs(context: Context) -> BlobStore:
    if context.blobs is None:
        raise ConfigError(
            f"{NAME} needs the images: give the Context the blobs that hold them (Context(..., blobs=...))"
        )
    return context.blobs


async def _told(state: State) -> str:
    return "edit" if state.get("instruction") else END


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("instruct", instruct)
    graph.add_node("edit", edit)
    graph.add_edge(START, "instruct")
    graph.add_conditional_edges("instruct", _told, ["edit", END])
    graph.add_edge("edit", END)
    return graph
