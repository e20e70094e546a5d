"""Image edits over every transport: what leaves, what comes back and is checked, and what is no image."""

import base64
import io
import json
from typing import Any

import pytest
from PIL import Image

from dokimasia.domain.call import ImageEdit, ImageEditReply, ModelReply, Usage
from dokimasia.errors import StorageError, TransportError
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.openai_format import edit_fields
from dokimasia.gateway.sending import clean_reply

BLOCKED = "Your request was rejected by the safety system. safety_violations=[violence]."


def picture(colour: str = "red", side: int = 8, format: str = "PNG") -> bytes:
    """An image file of one colour."""
    written = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(written, format)
    return written.getvalue()


def edited(image: bytes = b"", **changes: Any) -> dict[str, Any]:
    """A reply with an image as a provider writes it."""
    body = {"created": 1, "data": [{"b64_json": base64.b64encode(image or picture()).decode()}]}
    return body | {"usage": {"input_tokens": 300, "output_tokens": 4160, "total_tokens": 4460}} | changes


@pytest.fixture
def edit(send: Any, blobs: Any, acts: Any) -> Any:
    """Sends an image edit on each way."""

    async def edit(instruction: str = "Make it green.", **fields: Any) -> ModelReply:
        extra, repeat = fields.pop("extra", {}), fields.pop("repeat", 0)
        image = blobs.add(picture("blue"))
        call = ImageEdit(model=acts.spec().ref, image=image, instruction=instruction, extra=extra, repeat=repeat)
        return await send(call, **fields)

    return edit


async def failed(edit: Any, **fields: Any) -> TransportError:
    with pytest.raises(TransportError) as caught:
        await edit(**fields)
    return caught.value


async def test_an_edit_leaves_as_a_form_and_its_image_is_kept(edit: Any, server: Any, blobs: Any, key: str) -> None:
    """The image's bytes, the instruction, what is asked beside and the repeat arrive; what comes back lies among the blobs."""
    server.acts = [edited(picture("green", 12))]
    reply = await edit("Make it grün 漢字.", extra={"size": "1024x1024"}, repeat=3)
    assert isinstance(reply, ImageEditReply)
    assert reply.image is not None
    assert (reply.image.media_type, reply.image.width, reply.image.height) == ("image/png", 12, 12)
    assert blobs.get(reply.image.sha256) == picture("green", 12)
    assert reply.usage == Usage(input_tokens=300, output_tokens=4160)
    (body,) = server.bodies
    sent = body.pop("image", None) or body.pop("image[]")
    assert (sent[0], sent[2]) == (picture("blue"), "image/png")
    asked = {
        "model": "m",
        "prompt": "Make it grün 漢字.",
        "size": "1024x1024",
        "response_format": "b64_json",
        "seed": "3",
    }
    assert body == asked
    assert server.headers[0]["Authorization"] == f"Bearer {key}"


async def test_formats_of_images_and_of_replies_that_are_taken(edit: Any, server: Any) -> None:
    """A JPEG, a WebP, an image inline in a data address, and usage that is missing or named as in chats are all ordinary."""
    inline = f"data:image/png;base64,{base64.b64encode(picture()).decode()}"
    server.acts = [
        edited(picture(format="JPEG"), usage=None),
        edited(picture(format="WEBP"), usage={"prompt_tokens": 5, "completion_tokens": 7}),
        edited(data=[{"url": inline}]),
        edited(data=[{"b64_json": inline}], usage={"input_tokens": 0, "output_tokens": 0}),
    ]
    replies = [await edit() for _ in range(4)]
    assert [reply.image.media_type for reply in replies] == ["image/jpeg", "image/webp", "image/png", "image/png"]
    assert [reply.usage.input_tokens for reply in replies] == [None, 5, 300, None]


async def test_an_address_is_never_fetched(edit: Any, server: Any) -> None:
    """A reply with an address in place of an image is an error that says so and how to get the image; nothing else is sent."""
    server.acts = [edited(data=[{"url": f"{server.url}/images/made.png", "b64_json": None}])]
    error = await failed(edit)
    assert (error.kind, error.retryable) == ("unsupported", False)
    assert "address is never fetched" in str(error)
    assert "response_format" in str(error)
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("data", "kind", "retryable", "said"),
    [
        (picture()[:-20], "broken_envelope", True, "damaged or cut off"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "unsupported", False, "SVG"),
        (b"BM" + bytes(80), "unsupported", False, "BMP"),
        (b"GIF89a" + bytes(40), "broken_envelope", True, "damaged"),
    ],
)
async def test_what_is_no_image_is_an_error(
    edit: Any, server: Any, data: bytes, kind: str, retryable: bool, said: str
) -> None:
    """The image of a reply is checked as any other: damaged bytes may be asked for again, another format may not."""
    server.acts = [edited(data)]
    error = await failed(edit)
    assert (error.kind, error.retryable) == (kind, retryable)
    assert said in str(error)


async def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded(edit: Any, server: Any) -> None:
    """A picture whose header promises more pixels than are allowed is an error, however small its file is."""
    bomb = bytearray(picture())
    bomb[16:24] = (60_000).to_bytes(4, "big") * 2
    server.acts = [edited(bytes(bomb))]
    error = await failed(edit)
    assert error.kind in ("unsupported", "broken_envelope")


@pytest.mark.parametrize(
    "body",
    [{}, {"data": []}, {"data": None}, {"data": ["x"]}, {"data": [{}]}, {"data": [{"b64_json": "&&&"}]}, {"data": {}}],
)
async def test_a_reply_without_an_image_is_a_broken_envelope(edit: Any, server: Any, body: dict[str, Any]) -> None:
    """Where the image should stand is nothing that can be read: an attempt that may be made again."""
    server.acts = [{"created": 1, **body}]
    error = await failed(edit)
    assert (error.kind, error.retryable) == ("broken_envelope", True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": BLOCKED, "type": "image_generation_user_error", "code": "moderation_blocked"}),
        (400, {"message": "No.", "type": "invalid_request_error", "code": "content_policy_violation"}),
        (403, {"message": "Rejected for our content policy.", "type": "x", "code": None}),
    ],
)
async def test_a_content_policy_refusal_is_a_reply(
    edit: Any, server: Any, acts: Any, status: int, error: dict[str, Any], key: str
) -> None:
    """What the provider will not do is a refusal, which is kept like any reply, in its words and without a key."""
    said = f"{error['message']} Key {key}."
    server.acts = [acts.raw(json.dumps({"error": error | {"message": said}}).encode(), status=status)]
    reply = await edit()
    assert isinstance(reply, ImageEditReply)
    assert reply.image is None
    assert reply.refusal is not None
    assert reply.refusal.startswith(error["message"])
    assert key not in reply.refusal


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (404, "not_found", False),
        (429, "rate_limit", True),
        (503, "server_error", True),
    ],
)
async def test_other_errors_are_classified_as_those_of_chats(
    edit: Any, server: Any, acts: Any, status: int, kind: str, retryable: bool
) -> None:
    """An error of the endpoint has the kind that the same status has elsewhere, and is no refusal."""
    server.acts = [acts.failure(status, "Invalid size.", code="invalid_value")]
    error = await failed(edit)
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)


@pytest.mark.parametrize(("act", "kind"), [("cut", "connection"), ("reset", "connection"), ("slow", "timeout")])
async def test_connections_that_break_are_attempts(edit: Any, server: Any, acts: Any, act: str, kind: str) -> None:
    """A reply that is cut off, a connection without one and one that takes too long are sent once, and fail as elsewhere."""
    server.acts = [getattr(acts, act)]
    error = await failed(edit, timeout=1.0 if act == "slow" else 60.0)
    assert (error.kind, error.retryable) == (kind, True)
    assert len(server.bodies) == 1


async def test_bodies_that_are_no_reply(edit: Any, server: Any, acts: Any) -> None:
    """An empty body, HTML, and JSON that is cut off have the kinds that they have elsewhere."""
    server.acts = [
        acts.raw(b""),
        acts.raw(b"<html>away</html>", content_type="text/html"),
        acts.raw(b'{"data": [{"b64'),
    ]
    assert [(await failed(edit)).kind for _ in range(3)] == ["empty_body", "not_json", "broken_envelope"]


async def test_a_missing_image_is_an_error_before_anything_leaves(
    send: Any, blobs: Any, acts: Any, server: Any
) -> None:
    """An image that is not among the blobs cannot be edited, and nothing is sent."""
    image = blobs.add(b"x").model_copy(update={"sha256": "0" * 64})
    with pytest.raises(StorageError, match="no blob"):
        await send(ImageEdit(model=acts.spec().ref, image=image, instruction="redder"))
    assert server.bodies == []


@pytest.mark.parametrize(
    ("model", "api_base", "fields"),
    [
        ("openai/gpt-image-1", None, {}),
        ("gpt-image-1.5", None, {}),
        ("gemini/gemini-2.5-flash-image", None, {"seed": 2}),
        ("openai/dall-e-2", None, {"response_format": "b64_json"}),
        ("azure/gpt-image-1", "https://x.openai.azure.com/openai/v1", {}),
        ("hosted_vllm/Qwen/Qwen-Image-Edit", "http://127.0.0.1:1/v1", {"response_format": "b64_json", "seed": 2}),
        ("openai/gpt-image-1", "http://127.0.0.1:1/v1", {"seed": 2}),
    ],
)
def test_no_host_is_told_what_it_refuses(acts: Any, blobs: Any, model: str, api_base: str | None, fields: Any) -> None:
    """OpenAI's own hosts get no seed, its image models no form of the reply; other servers of the format are told both."""
    spec = acts.spec(model=model, api_base=api_base)
    call = ImageEdit(
        model=spec.ref, image=blobs.add(b"x"), instruction="redder", repeat=2, extra={"prompt": "other", "n": 4}
    )
    assert edit_fields(call, spec) == fields


async def test_without_a_reader_of_images_the_way_out_is_told(blobs: Any, acts: Any, server: Any) -> None:
    """A transport that was given nothing to check images with says so."""
    transport = DirectTransport()
    server.acts = [edited()]
    spec = acts.spec(model="hosted_vllm/m", api_base=server.url)
    with pytest.raises(TransportError, match="read_image"):
        await transport.send(
            ImageEdit(model=spec.ref, image=blobs.add(b"x"), instruction="redder"), spec, api_key=None, blobs=blobs
        )
    await transport.aclose()


async def test_the_gateway_commits_edits_and_refusals_once(
    way: Any, server: Any, blobs: Any, ledger: Any, acts: Any, key: str
) -> None:
    """A reply and a refusal are both in the ledger and asked for no second time; keys are taken out of a refusal."""
    spec = acts.spec(model=way.model, api_base=server.url, transport=way.name)
    specs = {spec.ref.name: spec}
    server.acts = [edited(), acts.failure(400, f"content policy {key}", code="content_policy_violation")]
    calls = [ImageEdit(model=spec.ref, image=blobs.add(picture()), instruction=text) for text in ("a", "b")]
    for cached in (False, True):
        gateway = ModelGateway(
            ledger=ledger, blobs=blobs, transports={way.name: way.transport}, specs=specs, api_keys={"m": key}
        )
        answers = [await gateway.ask(call) for call in calls]
        assert [answer.cached for answer in answers] == [cached, cached]
        assert [getattr(answer.reply, "image", None) is None for answer in answers] == [False, True]
    assert len(server.bodies) == 2
    assert key not in ledger.everything()


def test_a_key_in_a_refusal_is_taken_out() -> None:
    """What the provider says of its refusal is cleaned like every other text of a reply."""
    reply = ImageEditReply(refusal="not with key-0123456789")
    assert clean_reply(reply, lambda text: text.replace("key-0123456789", "[key]")).refusal == "not with [key]"
