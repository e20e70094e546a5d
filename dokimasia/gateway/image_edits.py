"""Image edits in the OpenAI format, for both transports: what a request says, and from its reply's bytes to an image."""

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dokimasia.domain.call import ImageEdit, ImageEditReply, ModelSpec, Usage
from dokimasia.domain.ports import BlobStore, ImageReader
from dokimasia.errors import DataError, TransportError
from dokimasia.gateway.chat_format import NOT_EXTRA
from dokimasia.gateway.failures import LONGEST_MESSAGE, LONGEST_SAID, broken, cut, scrub
from dokimasia.gateway.reported import storable, usage_of

OPENAI_HOSTS = (".openai.com", ".azure.com")
"""Ends of the names of hosts that refuse parameters which they do not know."""

_OPENAI_PREFIXES = ("openai", "azure", "azure_ai")
_ALWAYS_INLINE = re.compile(r"(?:chatgpt|gpt)-image")
"""Models that always send the image itself, and refuse to be told so."""

_OWN = frozenset((*NOT_EXTRA, "prompt", "image", "image[]", "mask", "n", "seed", "extra_body"))
"""Names that the call's `extra` cannot set."""

_REFUSALS = frozenset(("moderation_blocked", "content_policy_violation", "content_filter", "contentfilter"))
_REFUSED = re.compile(r"(?i)\bsafety system\b|\bcontent[ _]policy\b|\bcontent[ _]filter(?:ed)?\b")
_REFUSING_STATUSES = frozenset((400, 403, 422))


class EditedImage(NamedTuple):
    """The image that a reply holds, as bytes and unchecked, and the tokens that were reported."""

    data: bytes
    usage: Usage


def edit_fields(call: ImageEdit, spec: ModelSpec) -> dict[str, Any]:
    """Return what a request says beside model, image and prompt: the call's `extra`, the form of the reply, the repeat index.

    The image is asked for inline, as an address is never fetched; a provider of another format is not told so. The repeat
    index goes along as `seed`, but not to OpenAI's and Azure's own hosts, which refuse what they do not know.
    """
    fields = {name: value for name, value in call.extra.items() if name not in _OWN}
    at_openai = _at_openai(spec)
    if (at_openai or spec.api_base is not None) and not _ALWAYS_INLINE.match(call.model.model.rpartition("/")[2]):
        fields.setdefault("response_format", "b64_json")
    if not at_openai:
        fields["seed"] = call.repeat
    return fields


def sent_image(data: Mapping[str, Any]) -> EditedImage:
    """Return the image that a reply's body holds.

    Raises:
        TransportError: `broken_envelope`: there is none that can be read; `unsupported`: there is but an address.
    """
    items = data.get("data")
    first = items[0] if isinstance(items, list) and items else None
    if not isinstance(first, Mapping):
        raise broken()
    encoded, url = first.get("b64_json"), first.get("url")
    if not encoded and isinstance(url, str) and url.startswith("data:") and ";base64," in url[:100]:
        encoded = url.partition(",")[2]
    if not encoded and url:
        message = (
            "the endpoint answered with the address of an image in place of the image, and an address is never fetched; "
            'have it send the image itself (response_format = "b64_json")'
        )
        raise TransportError("unsupported", message, retryable=False, status=200)
    if not isinstance(encoded, str) or not encoded:
        raise broken()
    plain = encoded.partition(",")[2] if encoded.startswith("data:") else encoded
    try:
        image = base64.b64decode("".join(plain.split()), validate=True)
    except (binascii.Error, ValueError):
        raise broken() from None
    return EditedImage(image, _usage(data.get("usage")))


def refusal_of(status: int, error: Any, api_key: str | None) -> ImageEditReply | None:
    """Return an error as the provider's refusal to edit the image so; None where it is any other error.

    Args:
        status: the HTTP status.
        error: the `error` in the body.
        api_key: the key that was sent, taken out of what is said.
    """
    if not isinstance(error, Mapping) or not (status in _REFUSING_STATUSES or 200 <= status < 300):
        return None
    said = error.get("message")
    said = scrub(said, api_key) if isinstance(said, str) else ""
    codes = {str(error.get(name)).casefold() for name in ("code", "type")}
    if not (codes & _REFUSALS or _REFUSED.search(said[:LONGEST_SAID])):
        return None
    words = cut(" ".join(storable(said).split()), LONGEST_MESSAGE)
    return ImageEditReply(refusal=words or "the provider's content policy")


async def kept(sent: EditedImage, *, read_image: ImageReader | None, blobs: BlobStore) -> ImageEditReply:
    """Check an image like any other, put it among the blobs and return the reply.

    Raises:
        TransportError: `broken_envelope`: it is damaged; `unsupported`: it is of a format that is not allowed, has too many
            bytes or pixels, or nobody is there to check it.
        StorageError: it cannot be kept.
    """
    if read_image is None:
        message = "edited images need what reads them: make the transport with read_image=..."
        raise TransportError("unsupported", message, retryable=False)

    def keep() -> ImageEditReply:
        image = read_image(sent.data, "the endpoint's reply")
        blobs.put_image(sent.data, image)
        return ImageEditReply(image=image, usage=sent.usage)

    failure: TransportError
    try:
        return await asyncio.to_thread(keep)
    except DataError as problem:
        damaged = getattr(problem, "kind", "") in ("image-damaged", "image-empty")
        kind = "broken_envelope" if damaged else "unsupported"
        failure = TransportError(kind, cut(str(problem), LONGEST_MESSAGE), retryable=damaged, status=200)
    raise failure


def _at_openai(spec: ModelSpec) -> bool:
    if spec.api_base is not None:
        return f".{urlsplit(spec.api_base).hostname or ''}".endswith(OPENAI_HOSTS)
    prefix, slash, _ = spec.ref.model.partition("/")
    return not slash or prefix in _OPENAI_PREFIXES


def _usage(reported: Any) -> Usage:
    """Return the tokens by their names for images, or by those for chats, which some servers send."""
    if not isinstance(reported, Mapping):
        return Usage()
    names = (
        ("input_tokens", "output_tokens") if reported.get("input_tokens") else ("prompt_tokens", "completion_tokens")
    )
    return usage_of(reported.get(names[0]), reported.get(names[1]))
