"""The gateway: every call to a model goes through `ModelGateway.ask`, which handles ledger, budget, limits and retries."""

import asyncio
import functools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from dokimasia.domain.call import CallResult, Chat, ModelCall, ModelReply, ModelSpec, call_key
from dokimasia.domain.ports import BlobStore, Ledger, People, Reducer, Transport
from dokimasia.domain.question import Aid
from dokimasia.errors import CallFailed, ConfigError, Interrupted, ToolFailure, TransportError
from dokimasia.gateway.budget import Budget, Reservation
from dokimasia.gateway.events import CallCounts, EventKind, GatewayEvent, GatewayStats
from dokimasia.gateway.images import with_reduced_images
from dokimasia.gateway.limiter import Clock, Report, Sleep
from dokimasia.gateway.pricing import cost_of_reply, estimate_usage, forecast_cost
from dokimasia.gateway.remote_call import RemoteCall
from dokimasia.gateway.retry import PERHAPS_PAID, REFUSALS, RetryPolicy
from dokimasia.gateway.routes import Route, Routes
from dokimasia.gateway.sending import redactor, report_of, send_once, shorten
from dokimasia.gateway.traffic import PendingCall, Traffic


class ModelGateway:
    """Sends calls to models; implements `dokimasia.domain.ports.Gateway`.

    Calls in the ledger are answered from it. Any other is sent, retried according to `policy`, and committed before it
    is returned. Identical concurrent calls share one request; a request in flight is completed even if its caller is
    cancelled, since it is paid for. Keys are removed from all texts in the ledger, errors and events.

    Gateways with the same `traffic`, such as those of several runs, share limits, pace, breakers and identical
    concurrent calls; each has its own budget, counts and events, and ends independently.

    Use it in one event loop, and `aclose` it at the end.
    """

    def __init__(
        self,
        *,
        ledger: Ledger,
        blobs: BlobStore,
        transports: Mapping[str, Transport],
        specs: Mapping[str, ModelSpec],
        api_keys: Mapping[str, str] | None = None,
        reduce: Reducer | None = None,
        budget: Budget | None = None,
        people: People | None = None,
        redact: Callable[[str], str] = str,
        seed: int = 0,
        on_event: Callable[[GatewayEvent], None] | None = None,
        policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        traffic: Traffic | None = None,
    ) -> None:
        """Create a gateway.

        Args:
            ledger: stores replies and failed tries.
            blobs: stores images.
            transports: the transports, by name.
            specs: the models' configuration, by `ModelRef.name`.
            api_keys: keys by `ModelRef.name`, for the models that need one.
            reduce: downscales images for the models with a `max_image_side`.
            budget: limits on spending; none by default.
            people: stores questions to people; without it, people cannot be asked.
            redact: removes other secrets from a text.
            seed: the seed of the jitter between tries.
            on_event: called with each event, immediately and in order; it must not raise.
            policy: when and how often a failed request is sent again.
            sleep: waits for some seconds (replaced in tests).
            clock: returns monotonic seconds (replaced in tests).
            traffic: limits, pace, breakers and pending calls, shared with other gateways on the same ledger; by default
                nothing is shared.

        Raises:
            ConfigError: a model has a `max_image_side` but there is no `reduce`.
        """
        keys = dict(api_keys or {})
        self._ledger, self._blobs = ledger, blobs
        self._sides = {name: spec.max_image_side for name, spec in specs.items() if spec.max_image_side is not None}
        self._reduce = reduce
        if self._sides and reduce is None:
            raise ConfigError(
                f"model {min(self._sides)!r} has a max_image_side: give ModelGateway what makes images smaller (reduce=...)"
            )
        self._transports = dict(transports)
        self._budget = budget or Budget()
        self._people = people
        self._clean = redactor(keys.values(), redact)
        self._rng, self._on_event = random.Random(seed), on_event
        self._policy = policy or RetryPolicy()
        self._sleep, self._clock = sleep, clock
        self._traffic = traffic or Traffic(clock=clock, sleep=sleep)
        self._traffic.join(self._limit_changed)
        self._routes = Routes(specs, transports=self._transports, api_keys=keys, traffic=self._traffic)
        self._pending_calls: dict[str, PendingCall] = {}
        self._counts = CallCounts()
        self._cost = 0.0
        self._draining = False

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the call's answer, from the ledger if possible.

        A caller that joins a request in flight gets its answer as `cached`, since it was paid for once.

        Args:
            call: the call.
            label: the name of the calling agent, stored with the ledger's entry.
            aid: helps a person to answer the question.

        Raises:
            CallFailed: all tries failed (`api_error`, `context_overflow`), the budget is exhausted (`budget`), a person
                has not answered yet (`waiting`), or an image cannot be downscaled.
            ConfigError: the call's model is not configured, or its transport does not exist.
            Interrupted: the gateway is being drained.
            StorageError: the ledger or a blob cannot be read or written.
        """
        call = await self._with_reduced_images(call)
        if self._draining:
            raise _interrupted(call)
        key = call.key if isinstance(call, RemoteCall) else call_key(call)
        if call.model.person:
            return await self._ask_person(key, call, label, aid or Aid())
        pending = self._pending_calls.get(key)
        joined = pending is not None
        if pending is None:
            pending = self._pending_calls[key] = PendingCall(call=call, key=key, label=label)
            pending.task = asyncio.create_task(self._resolve(pending), name=f"call {key}")
            pending.task.add_done_callback(functools.partial(self._ended, pending))
        pending.waiters += 1
        try:
            outcome = await pending.outcome()
        except asyncio.CancelledError:
            if pending.task.cancelled() and self._draining:
                raise _interrupted(call) from None
            raise
        finally:
            pending.waiters -= 1
            if pending.waiters == 0 and pending.idle and not pending.task.done():
                pending.drop(self._forget)
        if isinstance(outcome, CallFailed):
            raise CallFailed(outcome.kind, outcome.reason, last=outcome.last)
        if isinstance(outcome, Interrupted):
            raise _interrupted(call)
        if joined and not outcome.cached:
            return outcome.model_copy(update={"cached": True})
        return outcome

    async def _ask_person(self, key: str, call: ModelCall, label: str, aid: Aid) -> CallResult:
        """Return a person's answer, or record the question. Questions to people bypass limits, pacing and retries."""
        name = call.model.name
        if self._people is None:
            raise ConfigError(f"{name}: nobody can be asked here: give ModelGateway where questions wait (people=...)")
        if not isinstance(call, Chat):
            raise CallFailed(
                "api_error", f"{name}: a person answers questions, and cannot be asked for this: {call.kind}"
            )
        answer = await self._people.ask(key, call, label=label, aid=aid)
        event = GatewayEvent("cached", name, call.model.endpoint, label, key)
        if answer is None:
            self._counts.waiting += 1
            self._emit(event._replace(kind="waiting", reason="the question waits"))
            raise CallFailed("waiting", f"{name}: the question waits for an answer")
        if answer.cached:
            self._counts.cached += 1
        else:
            self._budget.pay(answer.cost or 0.0)
            self._counts.answered += 1
            self._cost += answer.cost or 0.0
            self._counts.cost_unknown += answer.cost is None
        self._emit(event if answer.cached else event._replace(kind="answered"))
        return answer

    async def drain(self) -> None:
        """Stop sending new requests; return when the requests in flight are answered and committed.

        Calls that wait for a slot, for budget or for the next try end with `Interrupted`, as do later calls.
        """
        if not self._draining:
            self._draining = True
            self._emit(GatewayEvent("draining", reason="no new call is started"))
        await self._end(only_idle=True)

    async def abort(self) -> None:
        """Abandon the requests in flight, paid for or not; committed replies stay. The gateway is unusable afterwards."""
        self._draining = True
        await self._end(only_idle=False)

    async def _end(self, *, only_idle: bool) -> None:
        pending_calls = list(self._pending_calls.values())
        await asyncio.gather(*(pending.end(only_idle=only_idle) for pending in pending_calls))
        if pending_calls:
            await asyncio.wait([pending.task for pending in pending_calls])
        self._traffic.leave(self._limit_changed)

    async def aclose(self) -> None:
        """Drain, then close every transport. The gateway must not be used afterwards."""
        await self.drain()
        for transport in self._transports.values():
            await transport.aclose()

    def stats(self) -> GatewayStats:
        """Return the counts of calls so far, and of those in flight."""
        limits = self._routes.limits()
        under_way = Counter(pending.call.model.endpoint for pending in self._pending_calls.values() if pending.has_slot)
        return GatewayStats(
            **asdict(self._counts),
            cost=self._cost,
            in_flight={name: under_way[name] for name in limits},
            limits=limits,
        )

    def endpoint_idles(self, models: Iterable[str]) -> bool:
        """Return whether one of these models could take more concurrent requests while those to another have to wait.

        A run that asks all of them the same questions is then limited by the slowest, while the others idle.
        """
        return self._routes.endpoint_idles(models)

    def _forget(self, pending: PendingCall) -> None:
        for pending_calls in (self._pending_calls, self._traffic.pending_calls):
            if pending_calls.get(pending.key) is pending:
                del pending_calls[pending.key]

    def _ended(self, pending: PendingCall, _: object) -> None:
        self._forget(pending)
        pending.publish_outcome()

    async def _with_reduced_images(self, call: ModelCall) -> ModelCall:
        """Return the call as sent and stored in the ledger, with images within the model's `max_image_side`."""
        side = self._sides.get(call.model.name)
        if side is None or self._reduce is None or not isinstance(call, Chat):
            return call
        try:
            return await with_reduced_images(call, side, self._reduce)
        except ToolFailure as problem:
            raise CallFailed("api_error", f"{call.model.name}: an image cannot be made smaller: {problem}") from problem

    async def _resolve(self, pending: PendingCall) -> CallResult | CallFailed | Interrupted:
        """Return a call's outcome: from the ledger, or else after as many tries as the policy allows."""
        if (failed := await self._traffic.wait_for_turn(pending)) is not None:
            self._tell("gave_up", pending, reason=failed.reason)
            return failed
        committed = await self._ledger.get(pending.key)
        if committed is not None:
            self._counts.cached += 1
            self._tell("cached", pending)
            return committed
        route = pending.route = self._routes.to(pending.call.model.name)
        waited, tries = 0.0, 0
        try:
            while True:
                if reason := route.breaker.refusal():
                    return self._refuse(pending, reason)
                tries += 1
                outcome = await self._try(pending, route, tries)
                if not isinstance(outcome, TransportError):
                    return outcome
                if reason := route.breaker.refusal():
                    return self._refuse(pending, reason)
                delay = self._policy.next_delay(tries, outcome, waited=waited, rng=self._rng)
                pending.abandoned = delay is not None and pending.waiters == 0
                if pending.abandoned:
                    delay = None
                self._tell("failed_try", pending, reason=str(outcome), number=tries, delay=delay)
                if delay is None:
                    self._forget(pending)  # a later caller sends it again instead of getting this failure
                    return self._give_up(pending, outcome, tries)
                if self._draining:
                    return _interrupted(pending.call)
                waited += delay
                await self._sleep(delay)
        except asyncio.CancelledError:
            if not pending.refusal:
                raise
            return self._refuse(pending, pending.refusal)

    async def _try(self, pending: PendingCall, route: Route, number: int) -> CallResult | CallFailed | TransportError:
        """Send the call once, within budget and limits, and commit its reply or record its failure."""
        tokens, cost = self._forecast(pending.call, route)
        try:
            reservation = await self._budget.reserve(tokens=tokens, cost=cost)
        except CallFailed as refused:
            self._tell("gave_up", pending, reason=refused.reason, number=number)
            return CallFailed(refused.kind, f"{pending.call.model.name}: {refused.reason}")
        slot, remote = None, pending.remote
        report: Report = "failed"
        try:
            slot = await route.acquire_slot(tokens, None if self._budget.booked_ahead else remote)
            if pending.refusal and not (remote is not None and remote.begun):
                return self._refuse(pending, pending.refusal)
            await reservation.send()
            pending.idle, pending.has_slot = False, True
            self._counts.sent += 1
            self._tell("sent", pending, number=number)
            started, paced = self._clock(), route.pacing.limited
            result = await send_once(pending.call, route, blobs=self._blobs, clean=self._clean)
            latency = self._clock() - started
            report = report_of(result)
            cut = route.limiter.release(slot, report, to=None if remote is None else remote.take_next())
            if cut or route.pacing.limited != paced:
                self._traffic.hold_back(route.limiter)
            if cut:
                route.pacing.refused()
            elif report == "ok":
                route.pacing.succeeded()
            slot, pending.has_slot = None, False
            self._watch(pending, route, result)
            if isinstance(result, TransportError):
                if result.kind in PERHAPS_PAID:
                    reservation.settle(tokens=None, cost=None)
                return await self._record(pending, result)
            return await self._commit(pending, route, result, reservation, latency)
        except asyncio.CancelledError:
            if reservation.is_sent:  # abandoned in flight: it may have been paid for
                reservation.settle(tokens=None, cost=None, cut_off=True)
            raise
        finally:
            pending.idle, pending.has_slot = True, False
            if slot is not None:
                route.limiter.release(slot, report)
            reservation.release()

    def _forecast(self, call: ModelCall, route: Route) -> tuple[int, float | None]:
        """Return the call's estimated tokens and cost; nothing if no limit needs them."""
        if not self._budget.limited and not route.pacing.counts_tokens:
            return 0, None
        forecast = call.forecast if isinstance(call, RemoteCall) else estimate_usage(call)
        return (forecast.input_tokens or 0) + (forecast.output_tokens or 0), forecast_cost(call, forecast, route.price)

    async def _record(self, pending: PendingCall, failure: TransportError) -> TransportError:
        self._counts.failed_tries += 1
        await self._ledger.attempt(
            pending.key,
            pending.call,
            kind=failure.kind,
            status=failure.status,
            message=str(failure),
            label=pending.label,
        )
        return failure

    async def _commit(
        self, pending: PendingCall, route: Route, reply: ModelReply, reservation: Reservation, latency: float
    ) -> CallResult:
        usage = reply.usage
        cost = cost_of_reply(reply, route.price)
        spent = (usage.input_tokens or 0) + (usage.output_tokens or 0) if usage.known else None
        reservation.settle(tokens=spent, cost=cost)
        if spent is not None:
            route.pacing.correct(spent - reservation.tokens)
        await self._ledger.commit(pending.key, pending.call, reply, cost=cost, label=pending.label, latency=latency)
        counts = self._counts
        counts.answered += 1
        counts.input_tokens += usage.input_tokens or 0
        counts.output_tokens += usage.output_tokens or 0
        counts.usage_unknown += not usage.known
        self._cost += cost or 0.0
        counts.cost_unknown += cost is None
        self._tell("answered", pending)
        return CallResult(key=pending.key, reply=reply, cost=cost)

    def _watch(self, pending: PendingCall, route: Route, result: ModelReply | TransportError) -> None:
        """Report a request's result to the breaker; if that opens it, fail all calls that wait to be sent that way."""
        if not isinstance(result, TransportError) or result.kind not in REFUSALS:
            if route.breaker.endpoint_answered():
                self._traffic.announce(
                    route.spec.ref.endpoint, route.limiter.limit, f"{route.spec.ref.name}: it is asked again"
                )
            return
        if not route.breaker.refused(result):
            return
        reason = route.breaker.refusal()
        self._traffic.announce(route.spec.ref.endpoint, 0, f"{route.spec.ref.name}: {reason}")
        self._traffic.refuse(route.breaker, reason)

    def _refuse(self, pending: PendingCall, reason: str) -> CallFailed:
        reason = shorten(f"{pending.call.model.name}: {reason}")
        self._tell("gave_up", pending, reason=reason)
        return CallFailed("api_error", reason)

    def _give_up(self, pending: PendingCall, failure: TransportError, tries: int) -> CallFailed:
        count = "1 try" if tries == 1 else f"{tries} tries"
        status = "" if failure.status is None else f" (status {failure.status})"
        reason = shorten(f"{pending.call.model.name}: {failure.kind}{status} after {count}: {failure}")
        self._tell("left" if pending.abandoned else "gave_up", pending, reason=reason, number=tries)
        kind = "context_overflow" if failure.kind == "context_overflow" else "api_error"
        return CallFailed(kind, reason, last=failure)

    def _tell(
        self, kind: EventKind, pending: PendingCall, *, reason: str = "", number: int = 0, delay: float | None = None
    ) -> None:
        if self._on_event is not None:
            ref = pending.call.model
            self._on_event(
                GatewayEvent(kind, ref.name, ref.endpoint, pending.label, pending.key, reason, number, delay)
            )

    def _emit(self, event: GatewayEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _limit_changed(self, endpoint: str, limit: int, reason: str) -> None:
        self._emit(GatewayEvent("limit", endpoint=endpoint, limit=limit, reason=reason))


def _interrupted(call: ModelCall) -> Interrupted:
    return Interrupted(
        f"{call.model.name}: stopped before the call was answered; what is finished is kept, so go on later"
    )
