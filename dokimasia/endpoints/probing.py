"""Measured capabilities of endpoints: probe requests, their expected replies, and the resulting profile."""

import asyncio
import hashlib
import io
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import JsonValue

from dokimasia.domain.call import (
    PEOPLE,
    CallResult,
    Capability,
    Chat,
    ChatReply,
    ImageEdit,
    ImageEditReply,
    ModelCall,
    ModelSpec,
    ToolSpec,
    call_key,
)
from dokimasia.domain.identity import Value, unit_interval
from dokimasia.domain.ports import Transport
from dokimasia.domain.profile import CapabilityFinding, EndpointProfile
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import CallFailed, ConfigError, UnparsableReply
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.retry import RetryPolicy
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.log import Redactor
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.reply import short, spoken
from dokimasia.prompts import render
from dokimasia.runs.services import default_transports, transports_for_models
from dokimasia.settings import Settings, api_key
from dokimasia.simulation.draws import bare_name
from dokimasia.simulation.image_edits import EDITORS
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.profiles import save_profile

MAX_TOKENS = 1024
"""The maximum number of tokens of a reply: far more than the tasks require, so that a reasoning model reaches its
answer.
"""

COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 140, 20),
    "blue": (20, 40, 220),
    "yellow": (250, 230, 20),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
}
WIDTH = 192
EDITED_WIDTH = 512
"""The width in pixels of an image to edit, since image models refuse small ones."""

BANDS = 3

_COLOUR = re.compile(r"\b(" + "|".join(COLOURS) + r")\b", re.IGNORECASE)
_TOOL = "keep_number"


@dataclass(frozen=True)
class EndpointProbe:
    """A probe request: the capability it tests, the call, and the reader of its reply; `image` is the
    bytes it shows.
    """

    capability: Capability
    call: Chat | ImageEdit
    read: Callable[[Any], CapabilityFinding]
    image: tuple[ImageRef, bytes] | None = None


def probes(spec: ModelSpec, code: str) -> tuple[EndpointProbe, ...]:
    """Return the probe requests for a model: an image, an output schema, a tool; for an image model, an image edit.

    Args:
        spec: the model's configuration and sampling; its token limit is replaced by a small one.
        code: distinguishes one check from any other. It is part of the prompts, so that no cached reply answers them, and
            decides colours and numbers, so that no guess does.
    """
    if spec.edits_images or bare_name(spec.ref.model) in EDITORS:
        return (_edit_probe(spec, code),)
    return (_image_probe(spec, code), _schema_probe(spec, code), _tool_probe(spec, code))


def bands(code: str) -> tuple[str, ...]:
    """Return three different colours chosen by the code; the first is never red, the usual blind guess."""
    free = [name for name in COLOURS if name != "red"]
    chosen: list[str] = []
    for number in range(BANDS):
        chosen.append(free.pop(int(unit_interval("band", code, number) * len(free))))
        if number == 0:
            free.append("red")
    return tuple(chosen)


def draw_bands(colours: tuple[str, ...], width: int = WIDTH) -> tuple[ImageRef, bytes]:
    """Return a PNG of vertical bands in these colours, from left to right, twice as wide as high."""
    from PIL import Image, ImageDraw

    height = max(1, width // 2)
    picture = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(picture)
    for number, colour in enumerate(colours):
        left, right = width * number // len(colours), width * (number + 1) // len(colours) - 1
        pen.rectangle((left, 0, right, height - 1), fill=COLOURS[colour])
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageRef(sha256=sha256, media_type="image/png", width=width, height=height), data


def _image_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    expected = bands(code)
    image = draw_bands(expected, spec.max_image_side or WIDTH)
    task = (
        f"The picture shows three bands side by side. Name their colours from left to right, in three words. "
        f"The colours are among these: {', '.join(sorted(COLOURS))}."
    )

    def read(reply: ChatReply) -> CapabilityFinding:
        words = tuple(word.lower() for word in _COLOUR.findall(_text(reply)))
        if words[:BANDS] == expected:
            return CapabilityFinding(verdict="yes", note=f"named the bands {', '.join(expected)}")
        return _failed(reply, f"the bands were {', '.join(expected)}; it said {_quoted(reply)}")

    return EndpointProbe("vision", _call(spec, task, code, image[0]), read, image)


def _edit_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    colours = bands(code)
    image = draw_bands(colours, spec.max_image_side or EDITED_WIDTH)
    colour = next(name for name in COLOURS if name not in colours)
    call = ImageEdit(
        model=spec.ref,
        image=image[0],
        instruction=f"Turn the {colours[1]} band in the middle {colour}, and leave the rest as it is. (Check {code}.)",
        extra=spec.sampling.extra,
    )

    def read(reply: ImageEditReply) -> CapabilityFinding:
        if reply.image is None:
            return CapabilityFinding(verdict="unknown", note=f"the edit was refused: {short(reply.refusal or '', 80)}")
        return CapabilityFinding(
            verdict="yes", note=f"sent back an image of {reply.image.width} x {reply.image.height} pixels"
        )

    return EndpointProbe("image_edit", call, read, image)


def _schema_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    number, seal = _number(code), hashlib.sha256(code.encode()).hexdigest()[:6]
    properties: dict[str, JsonValue] = {
        "number": {"type": "integer"},
        "seal": {"type": "string", "enum": [seal]},
    }
    schema: dict[str, JsonValue] = {
        "title": "probe",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

    def fits(value: object) -> bool:
        if not isinstance(value, dict) or value.keys() != properties.keys():
            return False
        return type(value["number"]) is int and value["seal"] == seal

    def read(reply: ChatReply) -> CapabilityFinding:
        if find_json(_text(reply), fits):
            return CapabilityFinding(verdict="yes", note="kept to a schema that only the request's schema field shows")
        return _failed(reply, f"ignored the schema; it said {_quoted(reply)}")

    call = _call(spec, f"Give back the number {number}.", code)
    return EndpointProbe("json_schema", call.model_copy(update={"output_schema": schema}), read)


def _tool_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    number = _number(code)
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "the number to keep"}},
        "required": ["number"],
        "additionalProperties": False,
    }
    tool = ToolSpec(name=_TOOL, description="Keeps a whole number for later.", parameters=parameters)

    def read(reply: ChatReply) -> CapabilityFinding:
        for call in reply.tool_calls:
            try:
                arguments = orjson.loads(call.arguments)
            except orjson.JSONDecodeError:
                return CapabilityFinding(
                    verdict="no", note=f"called {short(call.name)} with arguments that are no JSON"
                )
            if call.name == _TOOL and arguments == {"number": number}:
                return CapabilityFinding(verdict="yes", note="called the tool with the right arguments")
            return CapabilityFinding(verdict="no", note=f"called {short(call.name)} with {short(call.arguments, 80)}")
        return _failed(reply, f"called no tool; it said {_quoted(reply)}")

    call = _call(spec, f"Keep the number {number}: call the tool {_TOOL}, and say nothing else.", code)
    return EndpointProbe("tools", call.model_copy(update={"tools": (tool,)}), read)


def _call(spec: ModelSpec, task: str, code: str, image: ImageRef | None = None) -> Chat:
    rendered = render("probe", {"task": task, "code": code}, images=() if image is None else (image,))
    limit = min(spec.sampling.max_tokens or MAX_TOKENS, MAX_TOKENS)
    sampling = spec.sampling.model_copy(update={"max_tokens": limit})
    return Chat(model=spec.ref, messages=rendered.messages, sampling=sampling)


def _number(code: str) -> int:
    return 100 + int(unit_interval("number", code) * 900)


def _text(reply: ChatReply) -> str:
    try:
        return spoken(reply.text)
    except UnparsableReply:
        return ""


def _quoted(reply: ChatReply) -> str:
    text = short(_text(reply), 80)
    return f"'{text}'" if text else "nothing"


def _failed(reply: ChatReply, note: str) -> CapabilityFinding:
    """Return the finding for a reply that does not show the capability: no, unless it was refused or truncated."""
    if reply.refusal is not None or reply.finish_reason == "content_filter":
        return CapabilityFinding(verdict="unknown", note="the reply was refused or filtered")
    if reply.finish_reason == "length":
        return CapabilityFinding(
            verdict="unknown", note="the reply was cut at its token limit before it came to the point"
        )
    return CapabilityFinding(verdict="no", note=note)


LABEL = "probe"
PATIENCE = RetryPolicy(max_tries=2, longest_asked=20.0, max_total_wait=30.0)
"""The retry policy of checks: one more try and no long wait, since somebody waits for the result."""

TIMEOUT = 60.0
"""The maximum number of seconds for one request; a shorter limit of the model takes precedence."""

_POINTLESS = frozenset({"auth", "not_found", "connection", "timeout", "configuration"})
"""Failures of the first request after which further requests are pointless."""

_UNASKED = CapabilityFinding(verdict="unknown", note="an image model is asked for an edit alone")

_DECLINED = frozenset({"bad_request", "unsupported"})
"""Failures that show that an endpoint does not support a request."""


class UnreachableModel(Value):
    """Why a model could not be reached: the kind of the last failed try (or `configuration`), and its message."""

    kind: str
    message: str


class ModelCheck(Value):
    """The result of checking one model.

    `problem` is set if the model was not reached, `profile` if it was. `calls` counts the replies that were paid for,
    `cost` is their price in US dollars (None: unknown, which is not zero). Two names of one model at one endpoint, sampled
    alike, are asked once. `person` is the name of a person, whom no endpoint is asked for and who always can be reached.
    """

    name: str
    model: str
    endpoint: str
    transport: str | None
    reachable: bool
    problem: UnreachableModel | None = None
    profile: EndpointProfile | None = None
    calls: int = 0
    cost: float | None = None
    person: str = ""


async def check_models(
    specs: Sequence[ModelSpec],
    *,
    settings: Settings,
    transports: Mapping[str, Transport] | None = None,
    code: str | None = None,
    home: Home | None = None,
) -> list[ModelCheck]:
    """Send every model a few small probe requests (an image model one edit) and store the profiles of those that answered.

    The requests go through the gateway like any others: they are paid for, limited as configured, and recorded in the
    ledger under the label `probe`. A code in them makes each check new, so that none is answered from the ledger. A model
    that cannot be reached keeps its earlier profile.

    Args:
        specs: the models, each name once.
        settings: home and keys.
        transports: transports that replace the package's own.
        code: replaces the code that is drawn anew for every check.
        home: an open home to write to, instead of that of the settings.

    Raises:
        HomeLocked: another process writes to the home.
        StorageError: the home cannot be written.
    """
    code = code or secrets.token_hex(8)
    ways = dict(transports or default_transports())
    keys: dict[str, str] = {}
    refused: dict[str, UnreachableModel] = {}
    for spec in specs:
        if spec.ref.person:
            continue
        try:
            if transports is None:
                ways = {**transports_for_models({spec.ref.name: spec}), **ways}
            chosen_transport_name(spec, ways)
            key = api_key(settings, spec)
        except ConfigError as error:
            refused[spec.ref.name] = UnreachableModel(kind="configuration", message=str(error))
            continue
        if key is not None:
            keys[spec.ref.name] = key
    with Home.open(settings.home, write=True) if home is None else nullcontext(home) as home:
        ledger = _WatchedLedger(home)
        gateway = ModelGateway(
            ledger=ledger,
            blobs=home.blobs,
            transports=ways,
            specs={spec.ref.name: _able(spec) for spec in specs},
            api_keys=keys,
            redact=Redactor((*settings.secrets, *keys.values()), patterns=False),
            policy=PATIENCE,
        )

        async def check(spec: ModelSpec) -> ModelCheck:
            if spec.ref.person:
                person = {**spec.ref.model_dump(), "person": spec.ref.person}
                return ModelCheck.model_validate({**person, "transport": PEOPLE, "reachable": True, "cost": 0.0})
            problem = refused.get(spec.ref.name)
            if problem is not None:
                return _unreached(spec, None, problem)
            checked = await _check(spec, code, chosen_transport_name(spec, ways), gateway, ledger, home)
            if checked.profile is not None:
                await save_profile(home, checked.profile)
            return checked

        try:
            return list(await asyncio.gather(*(check(spec) for spec in specs)))
        finally:
            await gateway.aclose()


class _WatchedLedger(SqliteLedger):
    """The home's ledger, which also remembers the last failure of each call."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.failures: dict[str, UnreachableModel] = {}

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record an attempt without a reply."""
        text = message if status is None else f"{message} (status {status})"
        self.failures[key] = UnreachableModel(kind=kind, message=text)
        await super().attempt(key, call, kind=kind, status=status, message=message, label=label)


def _able(spec: ModelSpec) -> ModelSpec:
    """Return the specification with all capabilities, so that no part of a probe is dropped, and with a short timeout.

    No image limit is needed, since the probe's image is drawn within the model's own limit.
    """
    able: tuple[Capability, ...] = ("vision", "json_schema", "tools")
    return spec.model_copy(update={"capabilities": able, "timeout": min(spec.timeout, TIMEOUT), "max_image_side": None})


async def _check(
    spec: ModelSpec, code: str, transport: str, gateway: ModelGateway, ledger: _WatchedLedger, home: Home
) -> ModelCheck:
    findings: dict[Capability, CapabilityFinding] = {}
    answers, seconds, problems = list[CallResult](), list[float](), list[UnreachableModel]()
    for probe in probes(spec, code):
        if probe.image is not None:
            ref, data = probe.image
            await asyncio.to_thread(home.blobs.put_image, data, ref)
        started = time.monotonic()
        try:
            answer = await gateway.ask(probe.call, label=LABEL)
        except CallFailed as failed:
            fallback = UnreachableModel(kind=failed.kind, message=failed.reason)
            problem = ledger.failures.get(call_key(probe.call), fallback)
            if problem.kind in _POINTLESS and not findings:
                return _unreached(spec, transport, problem)
            verdict = "no" if problem.kind in _DECLINED else "unknown"
            findings[probe.capability] = CapabilityFinding(
                verdict=verdict, note=f"{problem.kind}: {problem.message}"[:500]
            )
            problems.append(problem)
            continue
        seconds.append(time.monotonic() - started)
        answers.append(answer)
        findings[probe.capability] = probe.read(answer.reply)
    if not answers:
        return _unreached(spec, transport, problems[0])
    replies = [answer.reply for answer in answers]
    paid = [answer.cost for answer in answers if not answer.cached]
    profile = EndpointProfile(
        **spec.ref.model_dump(),
        transport=transport,
        vision=findings.get("vision", _UNASKED),
        json_schema=findings.get("json_schema", _UNASKED),
        tools=findings.get("tools", _UNASKED),
        image_edit=findings.get("image_edit"),
        usage=all(reply.usage.known for reply in replies),
        finish_reasons=tuple(
            sorted(
                {reply.native_finish_reason or reply.finish_reason for reply in replies if isinstance(reply, ChatReply)}
            )
        ),
        latency=round(sum(seconds) / len(seconds), 3),
        checked_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    cost = None if None in paid else sum(cost or 0.0 for cost in paid)
    return ModelCheck(
        **spec.ref.model_dump(), transport=transport, reachable=True, profile=profile, calls=len(paid), cost=cost
    )


def _unreached(spec: ModelSpec, transport: str | None, problem: UnreachableModel) -> ModelCheck:
    return ModelCheck(**spec.ref.model_dump(), transport=transport, reachable=False, problem=problem, cost=0.0)
