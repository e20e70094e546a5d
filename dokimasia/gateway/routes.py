"""From a model's configuration to what a request needs on its way: transport, key, limits and price."""

import hashlib
import time
from asyncio import sleep as asyncio_sleep
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.ports import Transport
from dokimasia.errors import ConfigError
from dokimasia.gateway.limiter import AdaptiveLimiter, Clock, Pace, Sleep
from dokimasia.gateway.pricing import Price, known_price

DEFAULT_TRANSPORT = "litellm"

LimitListener = Callable[[str, int, str], None]
"""Told an endpoint, its new limit and the reason."""


@dataclass(frozen=True)
class Route:
    """The way to one model. `limiter` is shared by all models on one endpoint under one key; the paces are its own."""

    spec: ModelSpec
    transport: Transport
    api_key: str | None
    limiter: AdaptiveLimiter
    requests: Pace | None
    tokens: Pace | None
    price: Price


def choose_transport(spec: ModelSpec, transports: Mapping[str, Transport]) -> Transport:
    """Return the transport that a model names.

    `auto` takes the transport that is called like the first part of the model's name (`sim` for `sim/judge`),
    else the one called `litellm`, else the only one there is.

    Raises:
        ConfigError: if there is none of that name.
    """
    name = spec.transport
    if name == "auto":
        prefix = spec.ref.model.split("/", 1)[0]
        name = prefix if prefix in transports else DEFAULT_TRANSPORT
        if name not in transports and len(transports) == 1:
            return next(iter(transports.values()))
    if name not in transports:
        known = ", ".join(sorted(transports)) or "none"
        raise ConfigError(f"model {spec.ref.name!r}: no transport {name!r}; there are: {known}")
    return transports[name]


class Routes:
    """All ways to the configured models; limiters are shared where endpoint and key are the same."""

    def __init__(
        self,
        specs: Mapping[str, ModelSpec],
        *,
        transports: Mapping[str, Transport],
        api_keys: Mapping[str, str],
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio_sleep,
        on_limit: LimitListener | None = None,
    ) -> None:
        self._specs = dict(specs)
        self._transports = transports
        self._api_keys = dict(api_keys)
        self._clock = clock
        self._sleep = sleep
        self._on_limit = on_limit
        self._limiters: dict[tuple[str, str], AdaptiveLimiter] = {}
        self._routes: dict[str, Route] = {}

    def to(self, name: str) -> Route:
        """Return the way to the model that is called so.

        Raises:
            ConfigError: if no model is configured under the name, or its transport does not exist.
        """
        if name not in self._routes:
            if name not in self._specs:
                known = ", ".join(sorted(self._specs)) or "none"
                raise ConfigError(f"model {name!r} is not configured; there are: {known}")
            self._routes[name] = self._route(self._specs[name])
        return self._routes[name]

    def in_flight(self) -> dict[str, int]:
        """Return the requests under way by endpoint."""
        return self._by_endpoint(lambda limiter: limiter.in_use)

    def limits(self) -> dict[str, int]:
        """Return the current concurrency limits by endpoint, those of several keys added up."""
        return self._by_endpoint(lambda limiter: limiter.limit)

    def _by_endpoint(self, figure: Callable[[AdaptiveLimiter], int]) -> dict[str, int]:
        totals: dict[str, int] = {}
        for (endpoint, _), limiter in sorted(self._limiters.items(), key=lambda item: item[0]):
            totals[endpoint] = totals.get(endpoint, 0) + figure(limiter)
        return totals

    def _route(self, spec: ModelSpec) -> Route:
        return Route(
            spec=spec,
            transport=choose_transport(spec, self._transports),
            api_key=self._api_keys.get(spec.ref.name),
            limiter=self._limiter(spec),
            requests=None if spec.rpm is None else Pace(spec.rpm, clock=self._clock, sleep=self._sleep),
            tokens=None if spec.tpm is None else Pace(spec.tpm, clock=self._clock, sleep=self._sleep),
            price=known_price(spec),
        )

    def _lane(self, spec: ModelSpec) -> tuple[str, str]:
        key = self._api_keys.get(spec.ref.name)
        identity = spec.api_key_env or "" if key is None else hashlib.sha256(key.encode()).hexdigest()[:12]
        return spec.ref.endpoint, identity

    def _limiter(self, spec: ModelSpec) -> AdaptiveLimiter:
        lane = self._lane(spec)
        if lane not in self._limiters:
            endpoint = spec.ref.endpoint

            def changed(limit: int, reason: str) -> None:
                if self._on_limit is not None:
                    self._on_limit(endpoint, limit, reason)

            start = max(other.max_concurrency for other in self._specs.values() if self._lane(other) == lane)
            self._limiters[lane] = AdaptiveLimiter(start, clock=self._clock, on_change=changed)
        return self._limiters[lane]
