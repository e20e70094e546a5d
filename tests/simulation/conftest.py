"""A hand-made scene of the planted world, its picture, and a few ways to ask about it."""

import hashlib
import io
from collections.abc import Callable

import orjson
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from dokimasia.domain.call import Chat, Message, ModelRef, Sampling
from dokimasia.domain.criterion import Box
from dokimasia.domain.sample import ImageRef
from dokimasia.prompts import render
from dokimasia.simulation.scene import Fact, Scene, SceneQuestion, SceneStep

Ask = Callable[..., Chat]


def _step(number: int, capability: str, weight: int) -> SceneStep:
    return SceneStep(
        question=f"Which colour has thing number {number}?",
        truth=f"colour {number}",
        statement=f"Thing {number} has colour {number}.",
        wrong=(f"Thing {number} has no colour.", f"Thing {number} has colour {number + 7}."),
        weight=weight,
        capability=capability,
        box=Box(x0=0.1 * number, y0=0.2, x1=0.1 * number + 0.2, y1=0.6),
    )


@pytest.fixture(scope="session")
def small_scene() -> Scene:
    """A scene of one question with four steps of different capabilities and weights, and one question with choices."""
    box = Box(x0=0.1, y0=0.2, x1=0.3, y1=0.4)
    facts = tuple(
        Fact(id=f"f{number}", subject=f"thing {number}", attribute="colour", value=f"colour {number}", box=box)
        for number in range(12)
    )
    steps = (
        _step(1, "<Perception><Enumeration><Object Counting>", 1),
        _step(2, "<Perception><Character Perception><Text Reading>", 2),
        _step(3, "<Reasoning><Logical Reasoning><Rule Induction>", 3),
        _step(4, "<Knowledge><Cultural Knowledge><Symbol Meaning>", 4),
    )
    plain = SceneQuestion(
        id="q1",
        kind="infer",
        text="What colour has the last thing?",
        answer="colour 4",
        wrong_answers=("no colour", "colour 11"),
        steps=steps,
    )
    chosen = SceneQuestion(
        id="q2",
        kind="read",
        text="Which colour has thing 3?",
        answer="colour 3",
        wrong_answers=("colour 10", "no colour"),
        choices=("colour 10", "colour 3", "no colour"),
        steps=tuple(
            step.model_copy(update={"weight": weight}) for step, weight in zip(steps[:3], (3, 3, 4), strict=True)
        ),
    )
    return Scene.model_validate(
        {
            "id": "small-1",
            "domain": "logic",
            "layout": "by-hand",
            "look": 0,
            "title": "Four things",
            "width": 64,
            "height": 48,
            "facts": facts,
            "questions": (plain, chosen),
        }
    )


@pytest.fixture(scope="session")
def small_png(small_scene: Scene) -> bytes:
    """The scene's picture: a blank PNG that carries the scene in its metadata."""
    body = {"id": small_scene.id, "box": [0.0, 0.0, 1.0, 1.0], "scene": small_scene.model_dump(mode="json")}
    info = PngInfo()
    info.add_itxt("dokimasia-scene", orjson.dumps(body).decode(), zip=True)
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "white").save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


@pytest.fixture(scope="session")
def small_ref(small_png: bytes) -> ImageRef:
    """The picture by content."""
    return ImageRef(sha256=hashlib.sha256(small_png).hexdigest(), media_type="image/png", width=64, height=48)


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Make a call: a prompt of the library with its inputs, put to a simulated model."""

    def make(
        model: str,
        prompt: str,
        inputs: dict[str, str],
        *,
        images: tuple[ImageRef, ...] = (),
        repeat: int = 0,
        sampling: Sampling | None = None,
        messages: tuple[Message, ...] | None = None,
    ) -> Chat:
        return Chat(
            model=ModelRef(name=model, model=model),
            messages=messages or render(prompt, inputs, images=images).messages,
            sampling=sampling or Sampling(),
            repeat=repeat,
        )

    return make
