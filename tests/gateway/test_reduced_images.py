"""Large images on their way to a model that takes smaller ones only."""

import base64
import hashlib
import io
from typing import Any

import pytest
from PIL import Image

from dokimasia.domain.call import Chat, Message, ToolCall, call_key
from dokimasia.domain.sample import ImageRef, TextPart
from dokimasia.errors import CallFailed, ConfigError
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.storage.content.reduced import ReducedImages
from dokimasia.tools.reducing import reduce_image


def picture(blobs: Any, width: int, height: int, colour: str = "teal") -> ImageRef:
    """Keep a plain PNG of that size and return its reference."""
    written = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(written, "PNG")
    data = written.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    ref = ImageRef(sha256=sha256, media_type="image/png", width=width, height=height)
    blobs.put_image(data, ref)
    return ref


@pytest.fixture
def reaching(way: Any, server: Any, blobs: Any, ledger: Any, acts: Any) -> Any:
    """Makes a gateway over each transport to the loopback server, whose model takes images of 64 pixels."""

    def make(**fields: Any) -> ModelGateway:
        return ModelGateway(
            ledger=ledger,
            blobs=blobs,
            transports={way.name: way.transport},
            specs={
                "m": acts.spec(model=way.model, api_base=server.url, transport=way.name, max_image_side=64, **fields)
            },
            reduce=ReducedImages(blobs, reduce_image),
        )

    return make


def asked(way: Any, acts: Any, images: tuple[ImageRef, ...]) -> Chat:
    """A call that shows these images to the model as it is called by this way."""
    return acts.call("What is it?", images=images).model_copy(update={"model": acts.spec(model=way.model).ref})


def sent_sizes(body: dict[str, Any]) -> list[tuple[int, int]]:
    """The sizes of the images in a request's body, in order."""
    parts = [part for message in body["messages"] for part in message.get("content") or () if isinstance(part, dict)]
    uris = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(uri.split(",", 1)[1]))).size for uri in uris]


async def test_large_images_are_sent_smaller_and_the_ledger_knows_what_was_sent(
    reaching: Any, way: Any, server: Any, blobs: Any, acts: Any
) -> None:
    """By each transport the larger image arrives with 64 pixels and the smaller as it is; the key is that of what was
    sent, and the same question is answered from the ledger."""
    large, small = picture(blobs, 256, 128), picture(blobs, 64, 60)
    gateway = reaching()
    call = asked(way, acts, images=(large, small))
    answer = await gateway.ask(call)
    assert sent_sizes(server.bodies[0]) == [(64, 32), (64, 60)]
    ref, _ = reduce_image(blobs.data[large.sha256], 64)
    parts = tuple(ref if part == large else part for part in call.messages[0].parts)
    as_sent = call.model_copy(update={"messages": (call.messages[0].model_copy(update={"parts": parts}),)})
    assert answer.key == call_key(as_sent) != call_key(call)
    assert (await gateway.ask(call)).cached
    assert len(server.bodies) == 1


async def test_what_a_tool_made_stays_as_it_is(reaching: Any, way: Any, server: Any, blobs: Any, acts: Any) -> None:
    """An image that follows a tool's result was cut from the original in full, and is sent so."""
    large, cut = picture(blobs, 256, 128), picture(blobs, 200, 100, "red")
    call = asked(way, acts, images=(large,))
    looked = (
        Message(role="assistant", parts=(), tool_calls=(ToolCall(id="1", name="crop", arguments="{}"),)),
        Message(role="tool", parts=(TextPart(text="The region."),), tool_call_id="1"),
        Message(role="user", parts=(TextPart(text="Image 1:"), cut)),
    )
    await reaching().ask(call.model_copy(update={"messages": (*call.messages, *looked)}))
    assert sent_sizes(server.bodies[0]) == [(64, 32), (200, 100)]


async def test_an_image_that_cannot_be_made_smaller_fails_its_call(
    reaching: Any, way: Any, blobs: Any, acts: Any
) -> None:
    """The asker gets a failure that says why, and nothing is sent."""
    broken = blobs.add(b"no image").model_copy(update={"width": 500})
    with pytest.raises(CallFailed, match="cannot be made smaller: the image is no PNG"):
        await reaching().ask(asked(way, acts, images=(broken,)))


def test_a_gateway_that_cannot_make_images_smaller_says_so(ledger: Any, blobs: Any, acts: Any) -> None:
    """A model that takes smaller images only is never sent a larger one for want of something that makes them."""
    with pytest.raises(ConfigError, match="max_image_side"):
        ModelGateway(ledger=ledger, blobs=blobs, transports={}, specs={"m": acts.spec(max_image_side=64)})
