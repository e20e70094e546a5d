"""Conversion of inputs to a graph's state, and of its state to a runnable's output, with graphs' special cases."""

import importlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dokimasia.algorithms.taxonomy import new_tree
from dokimasia.algorithms.trees.formats import to_version
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import GrowthOptions, PhaseReport, Placement, TreeCriterion
from dokimasia.domain.identity import ID_LENGTH, JsonObject, Value, digest
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import ValueStore
from dokimasia.domain.rubric import RubricOptions
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Walk, own_options, services_of
from dokimasia.graphs.signatures import SIGNATURES

V = TypeVar("V", bound=Value)


RESPONSES = ("response", "baseline", "reference")
"""Fields of an input, and of its items and calls, that accept a response."""

RESPONSE_LISTS = ("responses", "auxiliary")
"""Fields of an input that accept several responses."""

_ID = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}")


class RecordingStore:
    """A store of values around another store, which remembers the values written to it or read from it."""

    def __init__(self, inner: ValueStore) -> None:
        self._inner = inner
        self.values: dict[str, Value] = {}

    async def put(self, value: Value) -> str:
        """Store the value, and return its id."""
        id = await self._inner.put(value)
        self.values[id] = value
        return id

    async def get(self, type_: type[V], id: str) -> V:
        """Return the value with that id and type.

        Raises:
            StorageError: there is no such value.
        """
        value = await self._inner.get(type_, id)
        self.values[id] = value
        return value


async def stored(part: object, store: ValueStore) -> object:
    """Return a part of an input with every value stored and replaced by its id."""
    if isinstance(part, Value):
        return await store.put(part)
    if isinstance(part, Mapping):
        return {name: await stored(inner, store) for name, inner in part.items()}
    if isinstance(part, list):
        return [await stored(inner, store) for inner in part]
    return part


def resolved(part: object, values: Mapping[str, Value]) -> object:
    """Return a part of a state with every id of a known value replaced by the value."""
    if isinstance(part, str):
        return values.get(part, part)
    if isinstance(part, Mapping):
        return {name: resolved(inner, values) for name, inner in part.items()}
    if isinstance(part, list):
        return [resolved(inner, values) for inner in part]
    return part


async def walk_graph(name: str, inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Return a graph's output for an input; the values in it are stored.

    Args:
        name: the graph's name.
        inputs: its checked input.
        context: the services of its nodes.
        walk: runs the graph.
    """
    if name in SIGNATURES:
        inputs = await _with_responses(inputs, context)
    special = _SPECIAL.get(name)
    if special is not None:
        return await special(inputs, context, walk)
    state: JsonObject = {}
    for field, part in inputs.items():
        state[field] = await stored(part, context.store)
    return await walk(state, context)


async def _with_responses(inputs: JsonObject, context: Context) -> JsonObject:
    """Return an input in which each response text is a `Response` to the sample; stored responses' ids stay."""
    if not any(_has_text(part) for part in (inputs, *inputs.get("items", ()), *inputs.get("calls", ()))):
        return inputs
    sample = inputs["sample"]
    if not isinstance(sample, Sample):
        sample = await context.store.get(Sample, sample)
    baseline = getattr(context.options, "baseline", "")
    reader = _ResponseReader(sample, {"baseline": baseline, "reference": "reference"})
    filled = reader.fields(inputs, inputs)
    for name in ("items", "calls"):
        if name in inputs:
            filled[name] = [reader.fields(part, inputs) for part in inputs[name]]
    return filled


def _is_text(part: object) -> bool:
    """Return whether a part of an input is the text of a response rather than an id."""
    return isinstance(part, str) and bool(part) and not _ID.fullmatch(part)


def _has_text(part: JsonObject) -> bool:
    lists: list[object] = []
    for name in RESPONSE_LISTS:
        lists += part.get(name, ())
    return any(map(_is_text, (*lists, *map(part.get, RESPONSES))))


@dataclass(frozen=True)
class _ResponseReader:
    """Makes responses to a sample from their texts.

    Attributes:
        sample: the sample.
        models: by field, the author of a response that is not the item's model.
    """

    sample: Sample
    models: Mapping[str, str]

    def fields(self, part: JsonObject, inputs: JsonObject) -> JsonObject:
        """Return the fields of an item, or of a whole input, with responses in place of texts."""
        filled = dict(part)
        for name in RESPONSES:
            if _is_text(filled.get(name)):
                model = self.models.get(name) or part.get("model") or inputs.get("model", "")
                filled[name] = self._response(filled[name], model, part.get("arm", ""), part.get("repeat", 0))
        for name in RESPONSE_LISTS:
            if name in filled:
                filled[name] = list(map(self._list_entry, filled[name]))
        return filled

    def _list_entry(self, entry: object) -> object:
        """Return an entry of a list of responses, whose models are not needed."""
        if _is_text(entry):
            return self._response(entry, "", "", 0)
        return entry

    def _response(self, text: object, model: str, arm: str, repeat: int) -> Response:
        return Response(sample=self.sample.digest, model=model, arm=arm, repeat=repeat, text=str(text))


async def _refine(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Correct an answer: check it first, then run the rounds."""
    if isinstance(inputs["response"], str):
        inputs["response"] = await context.store.get(Response, inputs["response"])
    module = importlib.import_module("dokimasia.graphs.refinement.one_refinement")
    return dict(await module.refine_answer(context=context, walk=walk, **inputs))


async def _make_rubrics(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Make rubrics from the source in the input."""
    options = own_options(context, RubricOptions, "the making of rubrics")
    id, source = await stored(inputs["sample"], context.store), await stored(inputs["source"], context.store)
    sample = await context.store.get(Sample, str(id))
    options = options.model_copy(update={"sources": {sample.id: source}})
    state: JsonObject = {"sample": id, "answered": []}
    return await walk(state, replace(context, options=options))


async def _write_diagnosis(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Put the tables in the input into words."""
    return await walk({}, _extended("diagnosis", "DiagnosisContext", context, diagnosis=inputs["diagnosis"]))


async def _make_modes(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Make modes from the answers in the input."""
    await stored(inputs.get("values", ()), context.store)
    made_on = tuple(inputs.get("made_on", ()))
    return await walk(
        {}, _extended("mode_making", "MakingContext", context, answers=inputs["answers"], made_on=made_on)
    )


async def _code_answer(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Code an answer, after storing the values that it names by id."""
    await stored(inputs.pop("values", ()), context.store)
    return await walk({name: await stored(part, context.store) for name, part in inputs.items()}, context)


async def _grow(inputs: JsonObject, context: Context, walk: Walk) -> JsonObject:
    """Grow a tree in memory, and add the placements of the last version to the state."""
    growth = inputs.get("growth") or GrowthOptions(seed=context.seed)
    placements: dict[str, list[Placement]] = {}
    base = await stored(inputs.get("base", ""), context.store)
    last: list[Placement] = []

    async def keep(version: TreeVersion, report: PhaseReport, placed: Sequence[Placement]) -> None:
        placements[await context.store.put(version)] = list(placed)
        last[:] = placed

    own_context = _extended(
        "taxonomy_growth",
        "GrowthContext",
        context,
        criteria=sorted(map(_criterion, inputs["criteria"])),
        growth=growth,
        placed={placement.criterion: placement for placement in inputs.get("placed", ())},
        keep=keep,
        placements=lambda version: placements[version],
        on_progress=lambda phase, done, total: None,
    )
    first = base or await context.store.put(to_version(new_tree(growth.categories, level=growth.level)))
    state = await walk({"version": first, "base": base, "round": 0}, own_context)
    return {**state, "placements": list(last)}


def _criterion(entry: TreeCriterion | tuple[str, str]) -> TreeCriterion:
    """Return an entry of a growth's input as a criterion; a pair is a criterion's text and the name of its sample."""
    if isinstance(entry, TreeCriterion):
        return entry
    text, sample = entry
    return TreeCriterion(f"{digest('pair', [text, sample])[:16]}:1", text, sample)


def _extended(name: str, type_: str, context: Context, **more: object) -> Context:
    """Return the context of a graph that has its own type of context."""
    module = importlib.import_module(f"dokimasia.graphs.{SIGNATURES[name].module}")
    return getattr(module, type_)(**services_of(context), **more)


_SPECIAL: dict[str, Callable[[JsonObject, Context, Walk], Awaitable[JsonObject]]] = {
    "refinement": _refine,
    "rubric_making": _make_rubrics,
    "gold_rubrics": _make_rubrics,
    "diagnosis": _write_diagnosis,
    "mode_making": _make_modes,
    "mode_coding": _code_answer,
    "taxonomy_growth": _grow,
}
