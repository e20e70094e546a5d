"""Calls to models and their replies, in one form for all transports."""

import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, JsonValue, field_validator, model_validator

from dokimasia.domain.identity import Value, digest
from dokimasia.domain.sample import ImageRef, Part

KEY_VERSION = 1
"""Increased when the meaning of a ledger key changes, so that old entries are no longer served."""

MOST_TOKENS = 10**9
"""The maximum tokens of one call; a larger reported number is treated as unknown."""

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "content_filter", "tool_calls", "unknown"]
Capability = Literal["vision", "json_schema", "tools", "image_edit"]


PEOPLE = "human"
"""The prefix of the name of a person asked as a model, and the endpoint of people."""


STORED = "file"
"""The endpoint of models whose answers come from files, so that they are never called."""


class ModelRef(Value):
    """A model's identity: `model` is the resolved LiteLLM name, `endpoint` where it runs, `name` its displayed name."""

    name: str = Field(min_length=1)
    model: str = Field(min_length=1)
    endpoint: str = "default"

    @property
    def person(self) -> str:
        """The name of the person who answers instead of a model (`human/NAME`); empty for a model."""
        if self.model.startswith(f"{PEOPLE}/"):
            return self.model.removeprefix(f"{PEOPLE}/")
        return ""


Weights = Literal["open", "proprietary"]
"""Whether a model's weights are published."""

WEIGHTS: tuple[Weights, ...] = get_args(Weights)


_SIZE = re.compile(r"[0-9][0-9.]{0,6}[KMBT](?:-A[0-9][0-9.]{0,6}[KMBT])?")


class ModelSpec(Value):
    """A model's configuration: everything but its key.

    `api_key_env` is the name of an environment variable, never a key. Prices are US dollars per million tokens;
    None is unknown, which is not zero. `cached_input_price` is that of input which the provider read from its cache of
    prompts, `cache_write_price` that of input which it wrote into it; without them both cost what other input does.
    `image_price` is US dollars per edited image, whatever its tokens, of an image model.
    `max_concurrency` is the most requests that its endpoint is ever sent at once under
    its key; the gateway begins with `start_concurrency` (or with `max_concurrency`, where that is less) and grows from
    there. `rpm` and `tpm` are requests and tokens per minute; `timeout` is in seconds per call. An image whose longer side
    has more than `max_image_side` pixels is sent as one made smaller; None sends every image as it is. `weights` and
    `parameters`, such as 7B or 235B-A22B, are what tables group models by and say of them; None is not told. `hourly_rate`
    is US dollars per hour of a person's time; without it a person's reply costs nothing.
    """

    ref: ModelRef
    api_base: str | None = None
    api_key_env: str | None = None
    transport: str = "auto"
    max_concurrency: int = Field(default=64, ge=1)
    start_concurrency: int = Field(default=16, ge=1)
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=120.0, gt=0)
    input_price: float | None = Field(default=None, ge=0)
    output_price: float | None = Field(default=None, ge=0)
    cached_input_price: float | None = Field(default=None, ge=0)
    cache_write_price: float | None = Field(default=None, ge=0)
    image_price: float | None = Field(default=None, ge=0)
    hourly_rate: float | None = Field(default=None, ge=0)
    capabilities: tuple[Capability, ...] = ()
    max_image_side: int | None = Field(default=None, ge=64)
    weights: Weights | None = None
    parameters: str | None = None
    sampling: "Sampling" = Field(default_factory=lambda: Sampling())

    @field_validator("parameters")
    @classmethod
    def _check_size(cls, size: str | None) -> str | None:
        if size is not None and not _SIZE.fullmatch(size):
            raise ValueError("write a size such as 7B or 235B-A22B")
        return size

    @property
    def edits_images(self) -> bool:
        """Whether the model is configured as an image model, which edits images instead of chatting."""
        return "image_edit" in self.capabilities or self.image_price is not None


def model_name(spec: ModelSpec | None) -> str | None:
    """Return the name of a model that may not be configured; None without one."""
    return None if spec is None else spec.ref.name


def model_names(specs: Iterable[ModelSpec]) -> tuple[str, ...]:
    """Return the displayed names of models, in order."""
    return tuple(spec.ref.name for spec in specs)


class Sampling(Value):
    """Sampling parameters; None keeps the provider's default. `extra` is passed on unchanged and is part of the ledger key."""

    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    reasoning_effort: str | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)


class ToolSpec(Value):
    """A tool offered to a model; `parameters` is the JSON schema of its arguments, an object."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str
    parameters: dict[str, JsonValue]


class ToolCall(Value):
    """A tool call by a model; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(Value):
    """A message: a role and its parts, images by reference.

    With tools, the assistant's message repeats its `tool_calls`, and each result is a message of the role `tool` that
    names its call by `tool_call_id`.
    """

    role: Role
    parts: tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @model_validator(mode="after")
    def _tools_fit_the_role(self) -> "Message":
        if (self.role == "tool") != (self.tool_call_id is not None):
            raise ValueError("a message of the role tool names its tool_call_id, and no other message does")
        if self.tool_calls and self.role != "assistant":
            raise ValueError("only the assistant's messages have tool_calls")
        return self

    @property
    def text(self) -> str:
        """The message's text parts, concatenated."""
        return "".join(part.text for part in self.parts if part.kind == "text")

    @property
    def images(self) -> tuple[ImageRef, ...]:
        """The message's images in order."""
        return tuple(part for part in self.parts if part.kind == "image")


class Chat(Value):
    """A chat completion. `repeat` distinguishes independent draws of a request and is sent as `seed` where supported.

    `tools` are offered to the model, which may call them in its reply.
    """

    kind: Literal["chat"] = "chat"
    model: ModelRef
    messages: tuple[Message, ...] = Field(min_length=1)
    sampling: Sampling = Sampling()
    output_schema: dict[str, JsonValue] | None = None
    tools: tuple[ToolSpec, ...] = ()
    repeat: int = Field(default=0, ge=0)

    @property
    def images(self) -> tuple[ImageRef, ...]:
        """The images of all messages in order."""
        return tuple(image for message in self.messages for image in message.images)


class Embedding(Value):
    """An embedding call: one vector per text, in order."""

    kind: Literal["embedding"] = "embedding"
    model: ModelRef
    texts: tuple[str, ...] = Field(min_length=1)
    repeat: int = Field(default=0, ge=0)


class ImageEdit(Value):
    """An image edit by an instruction, or, where `image` is None, a new image by it (a prompt).

    `extra`, such as a `size` or a `quality`, is passed on unchanged.
    """

    kind: Literal["image_edit"] = "image_edit"
    model: ModelRef
    image: ImageRef | None = None
    instruction: str
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    repeat: int = Field(default=0, ge=0)


ModelCall = Annotated[Chat | Embedding | ImageEdit, Field(discriminator="kind")]


def _is_none(value: object) -> bool:
    return value is None


class Usage(Value):
    """Tokens reported by the provider; None means unknown, which is not zero.

    `cached_tokens` are those of the input that it read from its cache of prompts, `cache_write_tokens` those that it wrote
    into it; left out of JSON where it did not say.
    """

    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0, exclude_if=_is_none)
    cache_write_tokens: int | None = Field(default=None, ge=0, exclude_if=_is_none)

    @property
    def known(self) -> bool:
        """Whether both counts were reported."""
        return self.input_tokens is not None and self.output_tokens is not None


class ChatReply(Value):
    """A completed chat reply with a readable envelope; its content may still be unusable.

    `version` is the endpoint's name for the model that replied, often with a date; None where it states none.
    """

    kind: Literal["chat"] = "chat"
    text: str
    finish_reason: FinishReason = "unknown"
    native_finish_reason: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    version: str | None = None


class EmbeddingReply(Value):
    """One vector per text, in order, all of one length."""

    kind: Literal["embedding"] = "embedding"
    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


class ImageEditReply(Value):
    """The edited or new image, stored in the blob store, or the provider's reason for refusing, as a `refusal`."""

    kind: Literal["image_edit"] = "image_edit"
    image: ImageRef | None = None
    refusal: str | None = None
    usage: Usage = Usage()

    @model_validator(mode="after")
    def _edited_or_refused(self) -> "ImageEditReply":
        if (self.image is None) != (self.refusal is not None):
            raise ValueError("an image edit came to an image, or was refused")
        return self


ModelReply = Annotated[ChatReply | EmbeddingReply | ImageEditReply, Field(discriminator="kind")]


class CallResult(Value):
    """The gateway's result for a call: its ledger key, the reply, its cost in US dollars (None: unknown), and whether it
    was cached in the ledger (then nothing was sent or paid)."""

    stored_as: ClassVar[str] = "Answer"

    key: str
    reply: ModelReply
    cost: float | None = None
    cached: bool = False


class CallKeys(Value):
    """Ledger keys of calls, in order; stored as a value to keep them out of a graph's state."""

    calls: tuple[str, ...]


def canonical_request(call: ModelCall) -> dict[str, Any]:
    """Return the identity of a call: model and endpoint, content with image hashes, sampling, schema, tools, repeat,
    key version.

    The model's alias, the transport, timeouts and retries are excluded, since they do not change the request. Tools,
    and further fields of an image edit, are included only if present, so that calls without them keep the identity they
    had before these existed.
    """
    body = call.model_dump(mode="json", exclude={"model"}, exclude_none=True)
    optional = ((body, "tools"), (body, "extra"), *((message, "tool_calls") for message in body.get("messages", ())))
    for holder, field in optional:
        if field in holder and not holder[field]:
            del holder[field]
    body["model"] = call.model.model
    body["endpoint"] = call.model.endpoint
    body["key_version"] = KEY_VERSION
    return body


def call_key(call: ModelCall) -> str:
    """Return the ledger key of a call: 32 hexadecimal digits over its canonical request."""
    return digest("call", canonical_request(call))
