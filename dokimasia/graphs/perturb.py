"""Perturbation (FOCUS, section 2): graphs that write gold answers and insert an error of one dimension into an answer.

    gold_writing       write ─► check ─► end          (a gold answer that is there already: check ─► end)
    gold_imaging       make ─► check ─► end
    text_perturbing    perturb ─► check ─► end
    image_perturbing   instruct ─► edit ─► end

A gold answer (written, or from the data) that the checker finds wrong is stored with its faults and not perturbed. A
dimension that does not apply to an answer is not a failure. A checker's objections to a change are stored with it for
people to decide. An edited image that is unchanged or, if a model checks it, does not follow the instruction is a
failure. The graphs are linear and run without checkpoints: after a crash the ledger answers repeated calls.
"""

import asyncio
import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.asking import failure
from dokimasia.agents.editing import (
    changed_share,
    check_edit,
    check_gold_image,
    edit_image,
    make_image,
    not_carried_out,
    unusable,
    write_edit_instruction,
)
from dokimasia.agents.perturbation import check_change, check_gold, error_dimensions, perturb_answer, write_gold
from dokimasia.domain.blindspots import Perturbed, Task
from dokimasia.domain.judgement import Failed
from dokimasia.domain.perturbation import (
    ChangeCheck,
    EditCheck,
    EditInstruction,
    EditRecord,
    GoldAnswer,
    GoldImage,
    NotApplicable,
    PerturbOptions,
)
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import ConfigError, ToolFailure
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.drive import Graph, GraphFile
from dokimasia.graphs.versions import VERSIONS

TEXTS: Task = "image-to-text"


def _goes_on(field: str, node: str) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """Return a router that returns the next node if the state has the field, else the end."""

    async def next_node(state: Mapping[str, Any]) -> str:
        return node if state.get(field) else END

    next_node.__doc__ = f"Return `{node}` if the state has `{field}`, else the end."
    return next_node


class GoldState(Failure, TypedDict, total=False):
    """Ids of the sample, of the answer (`written`, or from the data), and of the checked answer (`result`)."""

    sample: str
    written: str
    result: str
    calls: Annotated[list[str], operator.add]


async def write_answer(state: GoldState, runtime: Runtime[Context]) -> GoldState:
    """Have the gold answer written."""
    context = runtime.context
    options = own_options(context, PerturbOptions, "gold_writing")
    sample = await context.store.get(Sample, state["sample"])
    reply = await context.ask(write_gold(sample), model=options.writer)
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    gold = GoldAnswer(sample=sample.digest, text=reply.value, by=options.writer, provenance=reply.provenance)
    return {"calls": reply.calls, "written": await context.store.put(gold)}


async def check_answer(state: GoldState, runtime: Runtime[Context]) -> GoldState:
    """Have the gold answer checked."""
    context = runtime.context
    options = own_options(context, PerturbOptions, "gold_writing")
    sample = await context.store.get(Sample, state["sample"])
    gold = await context.store.get(GoldAnswer, state["written"])
    reply = await context.ask(check_gold(sample, gold.text), model=options.checker)
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    words, why = reply.value
    checked_gold = gold.model_copy(update={"right": not words, "words": words, "why": why, "checked": reply.provenance})
    return {"calls": reply.calls, "result": await context.store.put(checked_gold)}


async def _before_writing(state: GoldState) -> str:
    """Return `check` if an answer already exists, else `write`."""
    if state.get("written"):
        return "check"
    return "write"


def build_gold_writing() -> StateGraph[GoldState, Context]:
    """Return the uncompiled graph that writes and checks gold answers."""
    graph = StateGraph(GoldState, context_schema=Context)
    graph.add_node("write", write_answer)
    graph.add_node("check", check_answer)
    graph.add_conditional_edges(START, _before_writing, ["write", "check"])
    graph.add_conditional_edges("write", _goes_on("written", "check"), ["check", END])
    graph.add_edge("check", END)
    return graph


class GoldImageState(Failure, TypedDict, total=False):
    """Ids of the sample, of the image (`made`, or from the sample), and of the checked image (`result`)."""

    sample: str
    made: str
    result: str
    calls: Annotated[list[str], operator.add]


async def make_gold_image(state: GoldImageState, runtime: Runtime[Context]) -> GoldImageState:
    """Have the gold image made from the sample's prompt, or take the sample's image."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    if sample.images:
        gold = GoldImage(sample=sample.digest, image=sample.images[0])
        return {"calls": [], "made": await context.store.put(gold)}
    options = own_options(context, PerturbOptions, "gold_imaging")
    painter = options.spec(options.writer)
    painting = await make_image(sample.prompt, gateway=context.gateway, model=painter, attempt=context.attempt)
    if painting.image is None:
        return {
            "calls": list(painting.calls),
            **failed_update(painting.failed or failure("api_error", "no image came")),
        }
    gold = GoldImage(sample=sample.digest, image=painting.image, by=options.writer, call=painting.calls[0])
    return {"calls": list(painting.calls), "made": await context.store.put(gold)}


async def check_image(state: GoldImageState, runtime: Runtime[Context]) -> GoldImageState:
    """Have the gold image checked."""
    context = runtime.context
    options = own_options(context, PerturbOptions, "gold_imaging")
    sample = await context.store.get(Sample, state["sample"])
    gold = await context.store.get(GoldImage, state["made"])
    reply = await context.ask(check_gold_image(sample.prompt, gold.image), model=options.checker)
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    checked_gold = gold.model_copy(update={"right": not reply.value, "why": reply.value, "checked": reply.provenance})
    return {"calls": reply.calls, "result": await context.store.put(checked_gold)}


def build_gold_imaging() -> StateGraph[GoldImageState, Context]:
    """Return the uncompiled graph that makes and checks gold images."""
    graph = StateGraph(GoldImageState, context_schema=Context)
    graph.add_node("make", make_gold_image)
    graph.add_node("check", check_image)
    graph.add_edge(START, "make")
    graph.add_conditional_edges("make", _goes_on("made", "check"), ["check", END])
    graph.add_edge("check", END)
    return graph


class TextState(Failure, TypedDict, total=False):
    """Ids of the sample, of the gold answer and of the perturbed answer (`made`); `dimension` is a name.

    `result` holds the id of a `Perturbed` and, if it was checked, of a `ChangeCheck`; or the id of a `NotApplicable`.
    """

    sample: str
    gold: str
    dimension: str
    made: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def perturb_text(state: TextState, runtime: Runtime[Context]) -> TextState:
    """Have the answer perturbed, unless it is too short for the dimension."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    gold = await context.store.get(GoldAnswer, state["gold"])
    dimension = error_dimensions(TEXTS)[state["dimension"]]
    subject: dict[str, Any] = {"sample": sample.digest, "dimension": dimension.name}
    if gold.word_count < dimension.least_words:
        why = f"the gold answer has {gold.word_count} of at least {dimension.least_words} words"
        return {"result": [await context.store.put(NotApplicable(**subject, why=why, too_short=True))]}
    reply = await context.ask(perturb_answer(sample, gold.text, dimension))
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    if reply.value.none:
        not_applicable = NotApplicable(**subject, why=reply.value.none, provenance=reply.provenance)
        return {"calls": reply.calls, "result": [await context.store.put(not_applicable)]}
    perturbed = Perturbed(
        **subject,
        sample_id=sample.id,
        task=TEXTS,
        gold=gold.text,
        perturbed=reply.value.text,
        description=reply.value.description,
        rationale=reply.value.rationale,
        by=context.options.judge,
    )
    id = await context.store.put(perturbed)
    return {"calls": reply.calls, "made": id, "result": [id]}


async def check_text(state: TextState, runtime: Runtime[Context]) -> TextState:
    """Have the change checked; after an unusable reply, the item stays unchecked."""
    context = runtime.context
    options = own_options(context, PerturbOptions, "text_perturbing")
    sample = await context.store.get(Sample, state["sample"])
    item = await context.store.get(Perturbed, state["made"])
    dimensions = list(error_dimensions(TEXTS).values())
    reply = await context.ask(check_change(sample, item.gold, item.perturbed, dimensions), model=options.checker)
    if reply.value is None:
        return {"calls": reply.calls}
    kind, also, worse, why = reply.value
    check = ChangeCheck(of=state["made"], kind=kind, also=also, worse=worse, why=why, provenance=reply.provenance)
    return {"calls": reply.calls, "result": [state["made"], await context.store.put(check)]}


async def _after_perturbing(state: TextState, runtime: Runtime[Context]) -> str:
    """Return `check` if an answer was perturbed and a checker is named, else the end."""
    checker = own_options(runtime.context, PerturbOptions, "text_perturbing").checker
    if state.get("made") and checker:
        return "check"
    return END


def build_text_perturbing() -> StateGraph[TextState, Context]:
    """Return the uncompiled graph that perturbs texts."""
    graph = StateGraph(TextState, context_schema=Context)
    graph.add_node("perturb", perturb_text)
    graph.add_node("check", check_text)
    graph.add_edge(START, "perturb")
    graph.add_conditional_edges("perturb", _after_perturbing, ["check", END])
    graph.add_edge("check", END)
    return graph


class ImageState(Failure, TypedDict, total=False):
    """Ids of the sample, of the gold image (`gold`; else the sample's only image), of the instruction, and of the results.

    `dimension` is a name. `result` holds the ids of a `Perturbed` and of its `EditRecord`; or, if the image cannot be
    edited in that dimension, the id of a `NotApplicable`, which is not a failure.
    """

    sample: str
    gold: str
    dimension: str
    instruction: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def instruct(state: ImageState, runtime: Runtime[Context]) -> ImageState:
    """Have the edit instruction written."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    image = await _gold_image(state, context, sample)
    dimension = error_dimensions("text-to-image")[state["dimension"]]
    reply = await context.ask(write_edit_instruction(sample, dimension, image))
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    if reply.value.unsuited:
        not_applicable = NotApplicable(
            sample=sample.digest, dimension=dimension.name, why=reply.value.unsuited, provenance=reply.provenance
        )
        return {"calls": reply.calls, "result": [await context.store.put(not_applicable)]}
    return {"calls": reply.calls, "instruction": await context.store.put(reply.value)}


async def edit(state: ImageState, runtime: Runtime[Context]) -> ImageState:
    """Have the image edited and the edit checked; each attempt is a new edit, and the first usable one is kept."""
    context = runtime.context
    options = own_options(context, PerturbOptions, "image_perturbing")
    if context.blobs is None:
        raise ConfigError(
            "image_perturbing needs the images: give the Context the blobs that hold them (Context(..., blobs=...))"
        )
    sample = await context.store.get(Sample, state["sample"])
    instruction = await context.store.get(EditInstruction, state["instruction"])
    gold, editor = await _gold_image(state, context, sample), options.spec(options.editor)
    calls: list[str] = []
    problem = failure("api_error", "no attempt was made")
    for attempt in range(context.attempt + 1):
        edited = await edit_image(gold, instruction.instruction, gateway=context.gateway, model=editor, attempt=attempt)
        calls += edited.calls
        if edited.image is None:
            problem = edited.failed or problem
        else:
            look = await _look_at_edit(context, options, context.blobs, gold, edited.image, instruction)
            calls += look.calls
            if look.failed is None:
                item = Perturbed(
                    sample=sample.digest,
                    sample_id=sample.id,
                    task="text-to-image",
                    dimension=state["dimension"],
                    gold_image=gold,
                    perturbed_image=edited.image,
                    description=instruction.change,
                    rationale=instruction.rationale,
                    instruction=instruction.instruction,
                    by=options.judge,
                )
                id = await context.store.put(item)
                record = EditRecord(perturbed=id, changed=look.changed, call=edited.calls[0], check=look.check)
                return {"calls": calls, "result": [id, await context.store.put(record)]}
            problem = look.failed
        if problem.open:
            break
    return {"calls": calls, **failed_update(problem)}


async def _gold_image(state: ImageState, context: Context, sample: Sample) -> ImageRef:
    if "gold" not in state:
        return sample.images[0]
    return (await context.store.get(GoldImage, state["gold"])).image


class EditLook(NamedTuple):
    """The share of changed pixels, the checker's findings, its calls, and why the edit is unusable."""

    changed: float
    check: EditCheck | None = None
    calls: Sequence[str] = ()
    failed: Failed | None = None


async def _look_at_edit(
    context: Context,
    options: PerturbOptions,
    blobs: BlobStore,
    gold: ImageRef,
    image: ImageRef,
    instruction: EditInstruction,
) -> EditLook:
    """Compare an edited image with the gold image, and have a model check it, if the options name a checker."""

    def compare() -> tuple[float, str]:
        before, after = blobs.get(gold.sha256), blobs.get(image.sha256)
        share = 0.0 if before == after else changed_share(before, after)
        return share, unusable(before, after, share)

    try:
        share_changed, fault = await asyncio.to_thread(compare)
    except ToolFailure as problem:
        return EditLook(0.0, failed=failure("unparsable", str(problem)))
    if fault:
        return EditLook(share_changed, failed=failure("unparsable", f"{options.editor}: {fault}"))
    if not options.checker:
        return EditLook(share_changed)
    reply = await context.ask(check_edit(gold, image, instruction), model=options.checker)
    if reply.value is None:
        return EditLook(share_changed, calls=reply.calls, failed=reply.failure)
    fault = not_carried_out(reply.value)
    refusal = failure("unparsable", f"{options.editor}: {fault}") if fault else None
    return EditLook(share_changed, reply.value, reply.calls, refusal)


def build_image_perturbing() -> StateGraph[ImageState, Context]:
    """Return the uncompiled graph that perturbs images."""
    graph = StateGraph(ImageState, context_schema=Context)
    graph.add_node("instruct", instruct)
    graph.add_node("edit", edit)
    graph.add_edge(START, "instruct")
    graph.add_conditional_edges("instruct", _goes_on("instruction", "edit"), ["edit", END])
    graph.add_edge("edit", END)
    return graph


def _graph(name: str, build: Callable[[], StateGraph[Any, Context]]) -> GraphFile:
    return Graph(name, VERSIONS[name], build)


GOLD_WRITING = _graph("gold_writing", build_gold_writing)
GOLD_IMAGING = _graph("gold_imaging", build_gold_imaging)
TEXT_PERTURBING = _graph("text_perturbing", build_text_perturbing)
IMAGE_PERTURBING = _graph("image_perturbing", build_image_perturbing)
