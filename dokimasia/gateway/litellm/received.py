"""What an endpoint really answered to LiteLLM's request, read by us where it is of the OpenAI format."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from dokimasia.domain.call import Chat, Embedding, ImageEdit, ModelCall, ModelReply
from dokimasia.errors import TransportError
from dokimasia.gateway.direct.errors import of_body, of_error_inside, of_status, refusal_in
from dokimasia.gateway.direct.replies import chat_reply, embedding_reply, read_object
from dokimasia.gateway.failures import MAX_REPLY_BYTES, too_long
from dokimasia.gateway.image_edits import EditedImage, sent_image


class Received(NamedTuple):
    """A response as it came: the body is decoded, and None where it was too long."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    url: str


class ReceivedResponses:
    """The responses to one call, of which the last counts, read as the direct transport reads them.

    Attributes:
        last: the last response.
        outcome: what it comes to, an edited image as its bytes; None where only LiteLLM can tell: it is an error that LiteLLM
            classifies, of a provider's own format, or holds what LiteLLM asked for by itself (a tool in place of a schema).
    """

    def __init__(self, call: ModelCall, *, api_key: str | None) -> None:
        """Read the responses to the call; the key is taken out of every message."""
        self._call = call
        self._api_key = api_key
        self.last: Received | None = None
        self.outcome: ModelReply | EditedImage | TransportError | None = None

    def take(self, received: Received) -> bool:
        """Take in a response; return whether its outcome is known, so that nobody else needs its body."""
        self.last = received
        try:
            self.outcome = self._read(received)
        except TransportError as failure:
            self.outcome = failure
        return self.outcome is not None

    def unreadable(self) -> TransportError | None:
        """Return what the last response comes to if it is no JSON object and LiteLLM could not read it either."""
        if self.last is None or self.last.body is None or not 200 <= self.last.status < 300:
            return None
        if read_object(self.last.body) is not None:
            return None
        return of_body(self.last.status, self.last.body, api_key=self._api_key)

    def _read(self, received: Received) -> ModelReply | EditedImage | None:
        status, headers, body, url = received
        if body is None:
            raise too_long(MAX_REPLY_BYTES, status)
        edits = isinstance(self._call, ImageEdit)
        if edits and (refused := refusal_in(status, body, self._api_key)) is not None:
            return refused
        if 300 <= status < 400:
            raise of_status(status, headers, body, url=url, api_key=self._api_key)
        data = read_object(body) if 200 <= status < 300 else None
        if data is None:
            return None
        if error := data.get("error"):
            raise of_error_inside(error, status, headers, body, api_key=self._api_key)
        if edits:
            return sent_image(data) if "data" in data else None
        if isinstance(self._call, Embedding):
            return embedding_reply(data) if _holds_vectors(data) else None
        if "choices" not in data or _is_completion_of_text(data["choices"]):
            return None
        reply = chat_reply(data, self._call.model.model)
        return None if reply.tool_calls and isinstance(self._call, Chat) and not self._call.tools else reply


_reading: ContextVar[ReceivedResponses | None] = ContextVar("dokimasia_litellm_reading", default=None)


@contextmanager
def reading(one: ReceivedResponses) -> Iterator[None]:
    """Have it take in the responses to what is sent in here."""
    token = _reading.set(one)
    try:
        yield
    finally:
        _reading.reset(token)


def take(received: Received) -> bool:
    """Hand a response to whoever reads this call's; called by the client. Return whether its outcome is known."""
    one = _reading.get()
    return one is not None and one.take(received)


def take_failure(failure: TransportError) -> bool:
    """Hand a failure to get any response to whoever reads this call's; return whether there is one."""
    one = _reading.get()
    if one is not None:
        one.last, one.outcome = None, failure
    return one is not None


def _holds_vectors(data: dict[str, Any]) -> bool:
    items = data.get("data")
    return isinstance(items, list) and all(isinstance(item, dict) and "embedding" in item for item in items)


def _is_completion_of_text(choices: Any) -> bool:
    """Whether these are choices of the older format, which have a text in place of a message."""
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "message" not in first and isinstance(first.get("text"), str)
