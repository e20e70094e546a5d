"""Checks models by asking them: sends the probes through the gateway and keeps what was seen as measured profiles."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from dokimasia.domain.call import PEOPLE, CallResult, Capability, ChatReply, ModelCall, ModelSpec, call_key
from dokimasia.domain.identity import Value
from dokimasia.domain.ports import Transport
from dokimasia.domain.profile import CapabilityFinding, EndpointProfile
from dokimasia.endpoints.probes import probes
from dokimasia.errors import CallFailed, ConfigError
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.retry import RetryPolicy
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.log import Redactor
from dokimasia.runs.services import default_transports, transports_for_models
from dokimasia.settings import Settings, api_key
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.profiles import save_profile

LABEL = "probe"
PATIENCE = RetryPolicy(max_tries=2, longest_asked=20.0, max_total_wait=30.0)
"""A check is watched by somebody: one more try for a hiccup, and no long wait."""

TIMEOUT = 60.0
"""Seconds that one request may take at most; a shorter limit of the model's own holds."""

_POINTLESS = frozenset({"auth", "not_found", "connection", "timeout", "configuration"})
"""Problems of the first request after which another one tells nothing more."""

_UNASKED = CapabilityFinding(verdict="unknown", note="an image model is asked for an edit alone")

_DECLINED = frozenset({"bad_request", "unsupported"})
"""The endpoint's word that it does not do what the request asks."""


class UnreachableModel(Value):
    """Why a model could not be reached: the kind of the last failed try (or `configuration`), and its message."""

    kind: str
    message: str


class ModelCheck(Value):
    """What a check of one model came to.

    `problem` is set where it was not reached, `profile` where it was. `calls` counts the replies that were paid for,
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
) -> list[ModelCheck]:
    """Ask every model a few small questions, an image model for one edit, and keep the profiles of those that answered.

    The requests go through the gateway like any others, so they are paid for, limited as configured, and stand in the
    ledger under the label `probe`. A code in them makes each check new: none is answered from the ledger. A model that
    cannot be reached keeps the profile that it had.

    Args:
        specs: the models, each name once.
        settings: home and keys.
        transports: ways to a model that replace the package's own.
        code: replaces the code that is drawn anew for every check.

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
    with Home.open(settings.home, write=True) as home:
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
    """The home's ledger, which remembers in what way each call failed last."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.failures: dict[str, UnreachableModel] = {}

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record a try that brought no reply."""
        shown = message if status is None else f"{message} (status {status})"
        self.failures[key] = UnreachableModel(kind=kind, message=shown)
        await super().attempt(key, call, kind=kind, status=status, message=message, label=label)


def _able(spec: ModelSpec) -> ModelSpec:
    """Return the spec as one that can do everything, so that a request keeps all that it has, and waits not too long.

    The picture is drawn no larger than the model is to be sent.
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
