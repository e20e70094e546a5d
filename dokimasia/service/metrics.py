"""Prometheus metrics of the service: requests are counted when answered; other values are read on demand."""

import time
from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dokimasia.service.state import Service
from dokimasia.storage.people.questions import count_questions
from dokimasia.storage.runs import RunStatus, count_runs

BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram buckets for request durations, in seconds."""

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

TOTALS = {
    "sent": ("calls_sent", "Requests that left for models; each try is one."),
    "answered": ("calls_answered", "Replies of models that were committed."),
    "cached": ("calls_cached", "Answers that the ledger gave."),
    "failed_tries": ("calls_failed_tries", "Requests to models that brought no reply."),
    "input_tokens": ("input_tokens", "Tokens sent, as far as models said."),
    "output_tokens": ("output_tokens", "Tokens received, as far as models said."),
    "cost": ("cost_dollars", "US dollars paid, as far as prices are known."),
}
"""Metrics of the calls and spending of this process's runs, by field of `GatewayStats`: name and help text."""


class Metrics:
    """The metrics of one service, in their own registry.

    No label contains user text except names of endpoints, whose number the configuration bounds.
    """

    def __init__(self, service: Service) -> None:
        """Create the metrics of a service."""
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "dokimasia_http_request_seconds",
            "Requests by route and status, and the seconds until the last byte of the reply.",
            ("method", "route", "status"),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._registry.register(_OnDemand(service))

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format; reads the home."""
        return generate_latest(self._registry)


class _OnDemand(Collector):
    """Metrics that are read on demand: runs, calls, limits, streams, questions."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering reads nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield each metric with its current value."""
        home, events = self._service.home, self._service.events
        runs = count_runs(home)
        yield _gauge(
            "runs", "Runs by status.", "status", {status: runs.get(status, 0) for status in get_args(RunStatus)}
        )
        yield _gauge("queue_length", "Runs that wait for their turn.", value=runs.get("queued", 0))
        yield _gauge("questions_waiting", "Questions that wait for people.", value=count_questions(home))
        yield _gauge("event_streams", "Streams of events that are open.", value=events.streams)
        for name, (metric, help) in TOTALS.items():
            yield CounterMetricFamily(f"dokimasia_{metric}", help, value=events.totals[name])
        in_flight, limits = Tally[str](), dict[str, int]()
        for picture in events.standing():
            progress = picture.progress or {}
            in_flight.update(progress.get("in_flight", {}))
            limits |= progress.get("limits", {})
        yield _gauge("calls_in_flight", "Requests on their way to models.", "endpoint", in_flight)
        yield _gauge("call_limit", "Requests that an endpoint is sent at once at most.", "endpoint", limits)


def _gauge(name: str, help: str, label: str = "", values: dict[str, int] | None = None, *, value: float = 0) -> Metric:
    metric = GaugeMetricFamily(f"dokimasia_{name}", help, labels=[label] if label else [])
    for key, count in sorted((values or {}).items()):
        metric.add_metric([key], count)
    if not label:
        metric.add_metric([], value)
    return metric


@dataclass(slots=True)
class RequestMeter:
    """Middleware that counts every request, including refused ones, with its route and duration."""

    app: ASGIApp
    metrics: Metrics = field(kw_only=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_noting_status)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            observed = self.metrics.requests.labels(method, _route(scope), str(status or 500))
            observed.observe(time.monotonic() - began)


def _route(scope: Scope) -> str:
    """Return the template of the route that answered, never the requested path."""
    template = getattr(scope.get("route"), "path", None)
    if template is None:
        if scope.get("root_path") == "/static":
            return "/static"
        return "none"
    if scope["path"].startswith("/api/") and not template.startswith("/api/"):
        return f"/api{template}"
    return template
