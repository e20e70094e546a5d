"""The route of requests to a model, from its configuration: transport, key, limits and price."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from urllib.parse import urlsplit

from dokimasia.domain.call import PEOPLE, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import ConfigError
from dokimasia.gateway.direct.codec import NATIVE_PREFIXES, OLLAMA_PREFIXES
from dokimasia.gateway.limiter import AdaptiveLimiter
from dokimasia.gateway.openai_format import OPENAI_HOSTS
from dokimasia.gateway.pricing import known_price
from dokimasia.gateway.traffic import Lane, Route, Traffic, lane_of

DEFAULT_TRANSPORT = "litellm"
DIRECT = "direct"

_OPENAI_REASONING = re.compile(r"o\d|gpt-5")


def chosen_transport_name(spec: ModelSpec, available: Collection[str]) -> str:
    """Return the name of a model's transport.

    A configured name is used unchanged. `auto` chooses, in this order:

    1. the transport with the name of the first part of the model's name (`sim` for `sim/judge`);
    2. `direct`, for a model with an `api_base` whose first part stands for a server of the OpenAI format
       (`openai/`, `hosted_vllm/`, `lm_studio/`, ...; `ollama/` only at an address that ends with `/v1`). Not for
       OpenAI's and Azure's own hosts, nor for models named like OpenAI's reasoning models: they refuse parameters
       that LiteLLM knows how to rename;
    3. `litellm`, or else the only transport.

    For a person, `PEOPLE` is returned.

    The ledger does not record the transport, so changing it repeats no call.

    Args:
        spec: the model's configuration.
        available: the names of the existing transports.

    Raises:
        ConfigError: there is no transport of that name, or it is `direct` and the model has no `api_base`.
    """
    if spec.ref.person:
        return PEOPLE
    name = _automatic_name(spec, available) if spec.transport == "auto" else spec.transport
    if name not in available:
        names = ", ".join(sorted(available)) or "none"
        chooser = "" if spec.transport == "auto" else " and auto"
        raise ConfigError(f"model {spec.ref.name!r}: no transport {name!r}; there are: {names}{chooser}")
    if name == DIRECT and spec.api_base is None:
        raise ConfigError(
            f"model {spec.ref.name!r}: the direct transport needs api_base, the address of the server, such as "
            "http://127.0.0.1:8000/v1"
        )
    return name


def _automatic_name(spec: ModelSpec, available: Collection[str]) -> str:
    prefix = spec.ref.model.split("/", 1)[0]
    if prefix in available:
        return prefix
    if DIRECT in available and spec.api_base is not None and _speaks_openai(spec.ref.model, spec.api_base):
        return DIRECT
    if DEFAULT_TRANSPORT not in available and len(available) == 1:
        return next(iter(available))
    return DEFAULT_TRANSPORT


def _speaks_openai(model: str, api_base: str) -> bool:
    prefix, _, name = model.partition("/")
    if prefix in OLLAMA_PREFIXES:
        return api_base.rstrip("/").endswith("/v1")
    if prefix not in NATIVE_PREFIXES:
        return False
    host = f".{urlsplit(api_base).hostname or ''}"
    return prefix != "openai" or not (host.endswith(OPENAI_HOSTS) or _OPENAI_REASONING.match(name))


class LateTransport:
    """A transport that is created on first use, since it imports libraries."""

    def __init__(self, make: Callable[[], Transport]) -> None:
        """Create the transport with `make`, on first use."""
        self._make = make
        self._made: Transport | None = None

    def made(self) -> Transport:
        """Return the transport, creating it if needed."""
        if self._made is None:
            self._made = self._make()
        return self._made

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Send the call once."""
        return await self.made().send(call, spec, api_key=api_key, blobs=blobs)

    async def aclose(self) -> None:
        """Close the transport if it was created."""
        if self._made is not None:
            await self._made.aclose()


class Routes:
    """The routes to a gateway's models; limits, pace and breakers are those of the traffic."""

    def __init__(
        self,
        specs: Mapping[str, ModelSpec],
        *,
        transports: Mapping[str, Transport],
        api_keys: Mapping[str, str],
        traffic: Traffic,
    ) -> None:
        self._specs = dict(specs)
        self._transports = transports
        self._api_keys = dict(api_keys)
        self._traffic = traffic
        self._limiters: dict[Lane, AdaptiveLimiter] = {}
        self._routes: dict[str, Route] = {}

    def to(self, name: str) -> Route:
        """Return the route to the model of that name.

        Raises:
            ConfigError: no model is configured under the name, or its transport does not exist.
        """
        if name not in self._routes:
            if name not in self._specs:
                names = ", ".join(sorted(self._specs)) or "none"
                raise ConfigError(f"model {name!r} is not configured; there are: {names}")
            self._routes[name] = self._route(self._specs[name])
        return self._routes[name]

    def limits(self) -> dict[str, int]:
        """Return the current concurrency limits by endpoint, summed over its keys."""
        totals: dict[str, int] = {}
        for (endpoint, _), limiter in sorted(self._limiters.items(), key=lambda item: item[0]):
            totals[endpoint] = totals.get(endpoint, 0) + limiter.limit
        return totals

    def endpoint_idles(self, names: Iterable[str]) -> bool:
        """Return whether a model's lane has half its capacity free while requests to another's have to wait."""
        routes = [self.to(name) for name in names if name not in self._specs or not self._specs[name].ref.person]
        waiting = {id(route.limiter) for route in routes if route.limiter.waiting or route.pacing.waiting}
        return bool(waiting) and any(
            id(route.limiter) not in waiting and 2 * route.limiter.in_use <= route.limiter.limit for route in routes
        )

    def _route(self, spec: ModelSpec) -> Route:
        lane = self._lane(spec)
        if lane not in self._limiters:
            sharing = [other for other in self._specs.values() if self._lane(other) == lane]
            self._limiters[lane] = self._traffic.limiter(lane, sharing)
        pacing, breaker = self._traffic.pacing(lane, spec)
        transport = self._transports[chosen_transport_name(spec, self._transports)]
        return Route(
            spec=spec,
            transport=transport.made() if isinstance(transport, LateTransport) else transport,
            api_key=self._api_keys.get(spec.ref.name),
            limiter=self._limiters[lane],
            pacing=pacing,
            breaker=breaker,
            price=known_price(spec),
        )

    def _lane(self, spec: ModelSpec) -> Lane:
        return lane_of(spec, self._api_keys.get(spec.ref.name))
