"""Gold images are made worse by an instruction and an image model, or it is said why not; a retry keeps what was good."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from PIL import Image

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.domain.blindspots import NEUTRAL, Perturbed
from dokimasia.domain.call import Chat, ImageEdit, ImageEditReply, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.perturbation import EditInstruction, EditRecord, NotApplicable, PerturbOptions
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed, ConfigError
from dokimasia.gateway.doubles import FunctionGateway, Reply
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.perturb import IMAGE_PERTURBING
from dokimasia.prompts import recognise
from dokimasia.simulation.image_edits import faults_in_image, image_reference
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.memory import MemoryLedger, MemoryStore

DIMENSIONS = error_dimensions("text-to-image")
NAMES = ("sim/judge", "sim/editor", "sim/editor-careless")
SPECS = {name: ModelSpec(ref=ModelRef(name=name, model=name, endpoint="sim"), transport="sim") for name in NAMES}
OPTIONS = PerturbOptions(judge="sim/judge", editor="sim/editor", checker="sim/judge", models=SPECS)
GRAPH = drive.compiled(IMAGE_PERTURBING)
TOLD = '{"instruction": "Remove the red cat.", "change": "The cat that was asked for is missing."}'
GOOD = '{"seen": "The cat is gone.", "done": true, "alone": true}'


class World:
    """A sample of the planted world, and a place for what is made of it."""

    def __init__(self, seed: int = 0) -> None:
        self.blobs, self.store = MemoryBlobs(), MemoryStore()
        self.gold = self.keep(draw_scene(make_scene("natural", seed)))
        self.sample = Sample(id=f"s{seed}", images=(self.gold,), prompt="A street with a red cat.")

    def keep(self, png: bytes) -> ImageRef:
        ref = image_reference(png)
        self.blobs.put_image(png, ref)
        return ref

    def other(self) -> ImageRef:
        """Another image of the same size."""
        return self.keep(draw_scene(make_scene("natural", 99)))

    async def walk(self, gateway: Any, dimension: str, options: PerturbOptions = OPTIONS, attempt: int = 0) -> Any:
        context = Context(gateway, self.store, options, blobs=self.blobs, attempt=attempt)
        inputs = {"sample": await self.store.put(self.sample), "dimension": dimension}
        return await drive.run(GRAPH, inputs, context=context)


def simulated(world: World) -> ModelGateway:
    return ModelGateway(ledger=MemoryLedger(), blobs=world.blobs, transports={"sim": SimTransport()}, specs=SPECS)


def scripted(edits: list[Reply], *, checks: str = GOOD) -> FunctionGateway:
    """A perturber that always writes the same, and an editor that gives its replies in order."""

    def say(call: ModelCall) -> Reply:
        if isinstance(call, ImageEdit):
            return edits.pop(0)
        assert isinstance(call, Chat)
        asked = recognise(call.messages)
        assert asked is not None
        return TOLD if asked.name == "edit_instruction" else checks

    return FunctionGateway(say)


@pytest.mark.parametrize("dimension", DIMENSIONS)
async def test_every_dimension_gives_an_edited_image(dimension: str) -> None:
    """In every dimension an image of the planted world is at fault in that one, or in none where the change is harmless."""
    world = World(4)
    state = await world.walk(simulated(world), dimension)
    assert not state.get("failed"), state.get("reason")
    made = await world.store.get(Perturbed, state["result"][0])
    assert (made.dimension, made.by, made.gold_image, made.sample) == (
        dimension,
        "sim/judge",
        world.gold,
        world.sample.digest,
    )
    told = await world.store.get(EditInstruction, state["instruction"])
    assert (made.instruction, made.description) == (told.instruction, told.change)
    assert made.perturbed_image is not None
    assert faults_in_image(world.blobs.get(made.perturbed_image.sha256)) == (
        () if dimension == NEUTRAL else (dimension,)
    )
    record = await world.store.get(EditRecord, state["result"][1])
    assert record.perturbed == state["result"][0]
    assert 0 < record.changed <= 1
    assert record.check is not None
    assert record.call == state["calls"][1]
    assert len(state["calls"]) == 3


async def test_a_dimension_that_does_not_apply_is_no_failure() -> None:
    """Where the perturber says that the image has nothing of the kind, there is no item, a reason, and no edit is asked for."""
    world = World()
    gateway = FunctionGateway(lambda call: '{"unsuited": "There is no lettering in it."}')
    state = await world.walk(gateway, "typographic_corruption")
    (none,) = state["result"]
    assert (await world.store.get(NotApplicable, none)).why == "There is no lettering in it."
    assert "failed" not in state
    assert [call.kind for call in gateway.calls] == ["chat"]


async def test_an_unchanged_image_is_a_failure_with_its_reason() -> None:
    """An editor that gives back the same bytes, or the same pixels in other bytes, has changed nothing."""
    world = World()
    written = io.BytesIO()
    Image.open(io.BytesIO(world.blobs.get(world.gold.sha256))).save(written, "PNG", compress_level=9)
    for image in (world.gold, world.keep(written.getvalue())):
        state = await world.walk(scripted([ImageEditReply(image=image)]), "object_substitution")
        assert (state["failed"], state["reason"]) == (
            "unparsable",
            "sim/editor: the image came back as it was: no pixel is changed",
        )
        assert len(state["calls"]) == 2


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ({"done": False, "alone": True}, "the edit was not carried out: The cat is blue."),
        (
            {"done": False, "alone": False},
            "the edit was not carried out and something else was changed: The cat is blue.",
        ),
    ],
)
async def test_an_edit_that_the_checker_refuses_is_a_failure(check: Mapping[str, bool], reason: str) -> None:
    """What was not done becomes no item; a run without a checker keeps it all the same."""
    world = World()
    said = json.dumps({"seen": "The cat is blue.", **check})
    state = await world.walk(scripted([ImageEditReply(image=world.other())], checks=said), "object_substitution")
    assert (state["failed"], state["reason"]) == ("unparsable", f"sim/editor: {reason}")
    unchecked = OPTIONS.model_copy(update={"checker": ""})
    state = await world.walk(scripted([ImageEditReply(image=world.other())]), "object_substitution", unchecked)
    assert (await world.store.get(EditRecord, state["result"][1])).check is None


async def test_what_was_changed_beside_is_kept_with_what_the_checker_saw() -> None:
    """An edit that was carried out and is not alone is an item all the same: people decide, and see what the checker saw."""
    world = World()
    said = json.dumps({"seen": "The dog is gone, too.", "done": True, "alone": False})
    state = await world.walk(scripted([ImageEditReply(image=world.other())], checks=said), "object_substitution")
    record = await world.store.get(EditRecord, state["result"][1])
    assert record.check is not None
    assert (record.check.alone, record.check.seen) == (False, "The dog is gone, too.")


async def test_a_refusal_is_one_and_a_retry_is_another_draw() -> None:
    """A provider's refusal fails the item as refused; taken up anew, the editor is asked under another repeat, and no more."""
    world = World()
    refusal, good = ImageEditReply(refusal="Not this one."), ImageEditReply(image=world.other())
    state = await world.walk(scripted([refusal]), "object_substitution")
    assert (state["failed"], state["reason"]) == ("refused", "sim/editor refused: Not this one.")
    gateway = scripted([refusal, good])
    state = await world.walk(gateway, "object_substitution", attempt=1)
    assert "result" in state
    assert [call.repeat for call in gateway.calls if isinstance(call, ImageEdit)] == [0, 1_000_000]


async def test_a_budget_that_is_used_up_asks_no_further() -> None:
    """Where the budget refuses the edit the item fails as `budget`, whatever attempt it is."""
    world = World()
    gateway = scripted([CallFailed("budget", "all 3 calls are spent")])
    state = await world.walk(gateway, "object_substitution", attempt=2)
    assert (state["failed"], state["reason"]) == ("budget", "all 3 calls are spent")


async def test_without_blobs_the_way_out_is_told() -> None:
    """The graph compares images, so a context without them is refused with the way out."""
    world = World()
    context = Context(scripted([]), world.store, OPTIONS)
    with pytest.raises(ConfigError, match=r"blobs=\.\.\."):
        await drive.run(GRAPH, {"sample": await world.store.put(world.sample), "dimension": NEUTRAL}, context=context)
