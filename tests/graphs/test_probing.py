"""A judge is asked about gold and changed answers in a walk, its justifications are read, and no call that fails ends it."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image

from dokimasia.agents.blindspots import axes_asked, prompt_of
from dokimasia.domain.blindspots import PUBLISHED, AxisChoices, AxisScores, Noticed, Perturbed, paradigm_of
from dokimasia.domain.call import Capability, Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.criterion import Box
from dokimasia.domain.judgement import Response
from dokimasia.domain.look import Look
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.probe import probing
from dokimasia.prompts import default_library, recognise
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import gold_answer, plant_error
from dokimasia.simulation.image_edits import PlantedEdit, image_reference, save_with_edits
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene
from dokimasia.simulation.scene import Domain
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.memory import MemoryLedger, MemoryStore

GRAPH = drive.compiled(probing)
NAMES = ("sim/judge-sharp", "sim/judge-names-only", "sim/judge-nearsighted", "sim/judge")


def specs(*capabilities: Capability) -> dict[str, ModelSpec]:
    """The simulated models, with what their endpoint can do."""
    return {
        name: ModelSpec(
            ref=ModelRef(name=name, model=name, endpoint="sim"), transport="sim", capabilities=frozenset(capabilities)
        )
        for name in NAMES
    }


class World:
    """A sample of the planted world with a gold and a changed answer, and a place for what is made of it."""

    def __init__(self, dimension: str = "attribute_distortion", domain: Domain = "natural") -> None:
        self.blobs, self.store = MemoryBlobs(), MemoryStore()
        scene = make_scene(domain, 5)
        picture = content_of_scene(scene)
        self.image = self.keep(draw_scene(scene))
        self.sample = Sample(id="s", images=(self.image,), prompt="Describe the picture.")
        gold = gold_answer(picture)
        planted = plant_error(dimension, gold, picture, Draws("k"))
        assert planted is not None
        self.item = Perturbed(
            sample=self.sample.digest,
            sample_id="s",
            task="image-to-text",
            dimension=dimension,
            gold=gold,
            perturbed=planted.text,
            description=planted.description,
        )

    def keep(self, png: bytes) -> ImageRef:
        ref = image_reference(png)
        self.blobs.put_image(png, ref)
        return ref

    async def walk(
        self,
        calls: Sequence[dict[str, Any]],
        *,
        judge: str = "sim/judge-sharp",
        gateway: Any = None,
        capabilities: Sequence[Capability] = (),
        tools: tuple[str, ...] = (),
        **state: Any,
    ) -> Any:
        models = specs(*capabilities)
        made = gateway or ModelGateway(
            ledger=MemoryLedger(), blobs=self.blobs, transports={"sim": SimTransport()}, specs=models
        )
        options = GraphOptions(judge=judge, models=models, tools=tools)
        context = Context(made, self.store, options, blobs=self.blobs)
        item = await self.store.put(self.item)
        inputs = {"sample": await self.store.put(self.sample), "judge": judge, **state}
        return await drive.run(GRAPH, {**inputs, "calls": [{"item": item, **one} for one in calls]}, context=context)


def of(evaluator: str, first: str = "perturbed", second: str = "gold", **more: Any) -> dict[str, Any]:
    """A call."""
    pair = {"second": second} if evaluator.startswith("pairwise") else {}
    return {"evaluator": evaluator, "first": first, **pair, **more}


@pytest.mark.parametrize("capabilities", [(), ("json_schema",)])
async def test_one_walk_asks_all_nine_ways(capabilities: Sequence[Capability]) -> None:
    """Each call has its judgement on the axes that its prompt asks for, by that prompt, in lines or as an object."""
    world = World()
    done = await world.walk([of(one) for one in PUBLISHED], capabilities=capabilities)
    known = default_library()
    for call in done["calls"]:
        assert not call.get("failed"), call["reason"]
        pairwise = paradigm_of(call["evaluator"]) == "pairwise"
        judged = await world.store.get(AxisChoices if pairwise else AxisScores, call["judgement"])
        values = judged.choices if isinstance(judged, AxisChoices) else judged.scores
        assert tuple(values) == axes_asked(call["evaluator"], "image-to-text")
        prompt = known.get(prompt_of(call["evaluator"], "image-to-text"))
        came = judged.provenance
        assert (came.prompt, came.prompt_version, came.prompt_hash) == (prompt.name, prompt.version, prompt.hash)
        assert came.shown[0] == "image"
        assert values["overall"] in ("second", *range(1, 9))
        assert call["calls"] == [came.call]
    assert (
        len({(await world.store.get(AxisScores, c["judgement"])).provenance.prompt_hash for c in done["calls"][:4]})
        == 4
    )


def with_image(*edits: PlantedEdit) -> tuple[World, ImageRef]:
    """A world whose item is a generated image, the changed one with these edits in its metadata."""
    world = World()
    png = world.blobs.get(world.image.sha256)
    with Image.open(io.BytesIO(png)) as opened:
        other = world.keep(save_with_edits(opened.convert("L").convert("RGB"), png, list(edits)))
    world.item = Perturbed(
        sample=world.sample.digest,
        sample_id="s",
        task="text-to-image",
        dimension="typographic_corruption",
        gold_image=world.image,
        perturbed_image=other,
    )
    return world, other


async def test_images_are_shown_in_the_order_of_the_prompt() -> None:
    """Of two images the first is A; beside a reference the reference comes first, and no other image is shown."""
    world, other = with_image()
    shown: dict[str, list[str]] = {}

    def say(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        found = recognise(call.messages)
        assert found is not None
        shown[found.name] = [image.sha256 for image in found.images]
        lines = "\n".join(f"{axis} | better: [A]" for axis in ("overall",))
        return f"A is right.\n{lines if 'pairwise' in found.name else lines.replace('better: [A]', 'score: [3]')}"

    calls = [of("single-vanilla"), of("pairwise-vanilla"), of("reference")]
    done = await world.walk(calls, gateway=FunctionGateway(say))
    assert not any(call.get("failed") for call in done["calls"])
    gold, changed = world.image.sha256, other.sha256
    assert shown["single_image_vanilla"] == [changed]
    assert shown["pairwise_image_vanilla"] == [changed, gold]
    assert shown["reference_image"] == [gold, changed]
    judged = await world.store.get(AxisScores, done["calls"][0]["judgement"])
    assert judged.judged == changed
    assert judged.provenance.shown == ("prompt", "image")


async def test_a_reader_tells_what_the_score_ignores() -> None:
    """The justification is read by another model, which quotes from it; in a pair the error has to be named of its answer."""
    world = World()
    calls = [
        of("single-vanilla", reader="sim/judge"),
        of("single-vanilla", "gold", reader="sim/judge", any_error=True),
        of("pairwise-axes", reader="sim/judge"),
    ]
    done = await world.walk(calls, judge="sim/judge-names-only")
    told = [await world.store.get(Noticed, call["noticed"]) for call in done["calls"]]
    assert [one.named for one in told] == [True, False, True]
    assert [one.judgement for one in told] == [call["judgement"] for call in done["calls"]]
    judged = await world.store.get(AxisScores, done["calls"][0]["judgement"])
    assert told[0].words in judged.justification
    assert all(len(call["calls"]) == 2 for call in done["calls"])
    again = [{key: call[key] for key in ("evaluator", "first", "judgement", "reader")} for call in done["calls"][:1]]
    read_only = await world.walk(again)
    assert len(read_only["calls"][0]["calls"]) == 1
    assert read_only["calls"][0]["noticed"] == done["calls"][0]["noticed"]


async def test_a_reader_is_told_where_the_error_is() -> None:
    """Of pairs it is told which answer was changed; of single ones, and of two gold answers, nothing."""
    asked: list[dict[str, str]] = []

    def say(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        found = recognise(call.messages)
        assert found is not None
        if found.name == "justification":
            asked.append(found.inputs)
            return "Words: none\nVerdict: [[no]]"
        word = "better: [tie]" if "pairwise" in found.name else "score: [8]"
        return f"Nothing is wrong.\noverall | {word}"

    world = World()
    calls = [
        of("pairwise-vanilla", "perturbed", "gold", reader="sim/judge"),
        of("pairwise-vanilla", "gold", "perturbed", reader="sim/judge", any_error=True),
        of("pairwise-vanilla", "gold", "gold", reader="sim/judge", any_error=True),
        of("single-vanilla", reader="sim/judge"),
    ]
    await world.walk(calls, gateway=FunctionGateway(say))
    assert [one.get("where", "") for one in asked] == ["response A", "response B", "", ""]
    assert [one.get("error", "") for one in asked] == [world.item.description, "", "", world.item.description]


async def test_a_new_reference_is_written_and_gone_by() -> None:
    """The writer answers the request anew; the judge is shown that in place of the gold answer."""
    world = World()
    done = await world.walk([of("reference"), of("single-vanilla")], writer="sim/judge")
    written = await world.store.get(Response, done["reference"])
    assert written.arm == "new-reference"
    assert written.text != world.item.gold
    assert len(done["written"]) == 1
    named = await world.walk([of("reference", reference=done["reference"])])
    assert named["calls"][0]["judgement"] == done["calls"][0]["judgement"]
    assert (await world.walk([of("reference")]))["calls"][0]["judgement"] != done["calls"][0]["judgement"]


async def test_what_fails_fails_alone() -> None:
    """A reply of no use is sent back once with all that is wrong; the call then fails, and the others are judged and read."""
    problems: list[str] = []

    def say(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        found = recognise(call.messages)
        assert found is not None
        if found.problem:
            problems.append(found.problem)
        if found.name == "single_text_rubric":
            return "overall | score: [12]"
        if found.name == "new_reference":
            return ""
        if found.name == "justification":
            return "I would rather not say."
        return "Nothing is wrong.\noverall | score: [8]"

    world = World()
    calls = [of("single-rubric", reader="sim/judge"), of("single-vanilla", reader="sim/judge"), of("reference")]
    done = await world.walk(calls, gateway=FunctionGateway(say), writer="sim/judge")
    rubric, vanilla, referred = done["calls"]
    assert rubric["failed"] == "unparsable"
    assert "'12'" in problems[0]
    assert "no justification" in problems[0]
    assert len(rubric["calls"]) == 2
    assert "noticed" not in rubric
    assert vanilla["judgement"]
    assert not vanilla.get("failed")
    assert vanilla["unread"]["failed"] == "unparsable"
    assert referred["failed"] == "unparsable"
    assert "judgement" not in referred


async def test_with_tools_the_near_sighted_judge_sees_what_is_small() -> None:
    """Without tools it scores both answers alike; with them it looks closer, the looks are kept, and the error costs points."""
    world = World("numerical_errors", "data")
    for tools, found in (((), False), (("zoom",), True)):
        calls = [of("single-axes", "gold"), of("single-axes")]
        done = await world.walk(calls, judge="sim/judge-nearsighted", tools=tools)
        gold, other = [await world.store.get(AxisScores, call["judgement"]) for call in done["calls"]]
        assert (gold.scores != other.scores) is found
        looks = done["calls"][1].get("looks", [])
        assert bool(looks) is found
        if found:
            assert (await world.store.get(Look, looks[0])).regions
            assert "tools" in other.provenance.shown


@pytest.mark.parametrize("evaluator", ["single-axes", "pairwise-axes", "reference"])
async def test_with_tools_the_near_sighted_judge_sees_what_is_small_in_an_image(evaluator: str) -> None:
    """A small fault of a generated image is found by enlarging it, also where a second image is shown."""
    box = Box(x0=0.4, y0=0.4, x1=0.5, y1=0.5)
    world, _ = with_image(PlantedEdit("typographic_corruption", box, "COFEE"))
    for tools, found in (((), False), (("zoom",), True)):
        done = await world.walk([of(evaluator)], judge="sim/judge-nearsighted", tools=tools)
        call = done["calls"][0]
        assert not call.get("failed"), call["reason"]
        kind = AxisChoices if evaluator.startswith("pairwise") else AxisScores
        judged = await world.store.get(kind, call["judgement"])
        value = judged.choices["overall"] if isinstance(judged, AxisChoices) else judged.scores["overall"]
        assert (value in ("second", 7, 8)) is found
        assert ("COFEE" in judged.justification) is found


async def test_all_of_a_walk_is_json() -> None:
    """What a checkpoint would hold is ids and primitives."""
    world = World()
    done = await world.walk([of("single-vanilla", reader="sim/judge"), of("reference")], writer="sim/judge")
    text = json.dumps(done)
    assert world.item.gold[:40] not in text
    assert world.item.perturbed[-40:] not in text
