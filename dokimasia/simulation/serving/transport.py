"""Simulated models in process: the same replies and faults as from the simulated server, without HTTP."""

import asyncio
from collections.abc import Mapping

from dokimasia.domain.call import Chat, ImageEdit, ImageEditReply, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import NotFound, TransportError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.embedding import embed_texts
from dokimasia.simulation.image_edits import edit_by_model, image_reference
from dokimasia.simulation.profiles import Profile
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.faults import Faults, Tries, transport_error


class SimTransport:
    """A `domain.ports.Transport` for models named `sim/...`."""

    def __init__(
        self,
        latency: float = 0.0,
        faults: Faults | None = None,
        *,
        models: Mapping[str, Profile] | None = None,
        library: PromptLibrary | None = None,
    ) -> None:
        """Plant a latency in seconds, faults, and, optionally, other models and prompts than the included ones."""
        self._latency = latency
        self._tries = Tries(faults)
        self._known = models
        self._library = library

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Return the simulated model's reply; `api_key` is ignored and in no error.

        Raises:
            TransportError: a planted fault, or an unknown model.
        """
        if self._latency:
            await asyncio.sleep(self._latency)
        fault = self._tries.next_fault(request_hash(call))
        if fault == "timeout":
            await asyncio.sleep(spec.timeout)
        if fault is not None:
            raise transport_error(fault)
        try:
            if call.kind == "embedding":
                return embed_texts(call)
            if call.kind == "image_edit":
                return await asyncio.to_thread(self._edited, call, blobs)
            reply = respond(call, _Images(call, blobs), models=self._known, library=self._library)
        except NotFound as error:
            raise TransportError("not_found", str(error), retryable=False, status=404) from None
        return self._tries.spoil(reply, call)

    def _edited(self, call: ImageEdit, blobs: BlobStore) -> ImageEditReply:
        png, usage = edit_by_model(call, None if call.image is None else blobs.get(call.image.sha256))
        if png is None or self._tries.refuses(call):
            return ImageEditReply(refusal=REFUSAL, usage=usage)
        image = image_reference(png)
        if call.image is not None and image.sha256 == call.image.sha256:
            image = call.image
        blobs.put_image(png, image)
        return ImageEditReply(image=image, usage=usage)

    async def aclose(self) -> None:
        """Close nothing: there is no connection."""


class _Images(dict[str, bytes]):
    """A call's images, read from the blob store on access."""

    def __init__(self, call: Chat, blobs: BlobStore) -> None:
        super().__init__()
        self._hashes = {image.sha256 for image in call.images}
        self._blobs = blobs

    def __missing__(self, sha256: str) -> bytes:
        if sha256 not in self._hashes:
            raise KeyError(sha256)
        return self._blobs.get(sha256)
