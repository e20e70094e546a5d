"""The composition root: assembles transports, gateway, ledger, store and checkpoints for one run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dokimasia.agents import PromptLibrary
from dokimasia.chat_models import LANGCHAIN, chat_model_for, keeping_identity
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.ports import Transport
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.pricing import known_price
from dokimasia.gateway.remote_call import RemoteCallTransport
from dokimasia.gateway.routes import LateTransport
from dokimasia.gateway.traffic import Traffic
from dokimasia.log import Redactor
from dokimasia.plugins import transports_for
from dokimasia.runs.observer import Observer
from dokimasia.runs.reachability import FailFastGateway, Stop, home_gone, unless_stopped, watch_home
from dokimasia.settings import Settings, api_key
from dokimasia.storage.content.reduced import ReducedImages
from dokimasia.storage.decisions import import_filed
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.people.asking import QueuedPeople
from dokimasia.storage.runs import HomeRows, SqliteValueStore
from dokimasia.storage.spending import spending_recorder, spent_by
from dokimasia.tools.reducing import reduce_image

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dokimasia.graphs.executor import Executor
    from dokimasia.runs.requests import Invocation
    from dokimasia.storage.checkpoints import Saver


@dataclass(frozen=True, slots=True)
class Services:
    """The services of a run: gateway, store of values, checkpoints, people and executor."""

    gateway: ModelGateway
    store: SqliteValueStore
    saver: "Saver"
    specs: Mapping[str, ModelSpec]
    people: QueuedPeople
    executor: "Executor"


def default_transports(prompts: PromptLibrary | None = None) -> dict[str, Transport]:
    """Return the package's transports by name; their libraries are imported at the first call.

    `prompts` replace the package's own for simulated models, which recognise requests by their prompts.
    """
    from dokimasia.datasets.images import read_image

    def simulated() -> Transport:
        from dokimasia.simulation.serving.transport import SimTransport  # imports numpy

        return SimTransport(library=prompts)

    def direct() -> Transport:
        from dokimasia.gateway.direct.transport import DirectTransport  # imports aiohttp

        return DirectTransport(read_image=read_image)

    return {
        "direct": LateTransport(direct),
        "litellm": LiteLLMTransport(read_image=read_image),
        "sim": LateTransport(simulated),
    }


def transports_for_models(specs: Mapping[str, ModelSpec], prompts: PromptLibrary | None = None) -> dict[str, Transport]:
    """Return the package's transports, and those of plug-ins that models name and the package lacks.

    Raises:
        ConfigError: a plug-in's transport that a model names cannot be loaded.
    """
    built_in = default_transports(prompts)
    models = [spec for spec in specs.values() if not spec.ref.person]
    transport_names = {
        spec.ref.model.split("/", 1)[0] if spec.transport == "auto" else spec.transport for spec in models
    }
    return {**dict(transports_for(transport_names - set(built_in))), **chat_transports(models), **built_in}


def transports_of_run(
    specs: Mapping[str, ModelSpec],
    settings: Settings,
    prompts: PromptLibrary | None,
    replacements: Mapping[str, Transport] | None = None,
) -> dict[str, Transport]:
    """Return the transports of a run's models, including those of LangChain chat models given as objects.

    Args:
        specs: the run's models, by name.
        settings: settings with the chat models.
        prompts: the prompts that simulated models know.
        replacements: transports that replace the package's own, by name; they do not affect those of chat models.

    Raises:
        ConfigError: a plug-in's transport that a model names cannot be loaded.
    """
    objects = [name for name, spec in specs.items() if is_given(spec, settings)]
    others = {name: spec for name, spec in specs.items() if name not in objects}
    by_object = chat_transports([specs[name] for name in objects], settings.chat_models)
    return {**by_object, **(replacements or transports_for_models(others, prompts))}


def chat_transports(
    specs: Iterable[ModelSpec], given: "Mapping[str, BaseChatModel] | None" = None
) -> dict[str, Transport]:
    """Return the transports of the LangChain chat models among the models, by name.

    Args:
        specs: the models.
        given: chat models passed by a program, by name; others come from plug-ins.

    Raises:
        ConfigError: a chat model is missing, or differs from the one the run was accepted with.
    """
    transports: dict[str, Transport] = {}
    for spec in specs:
        if spec.transport.startswith(LANGCHAIN) and spec.transport not in transports:
            from dokimasia.gateway.langchain import LangChainTransport

            model = chat_model_for(spec, given or {})
            transports[spec.transport] = LangChainTransport(model, during=partial(keeping_identity, model, spec.ref))
    return transports


def is_given(spec: ModelSpec, settings: Settings) -> bool:
    """Return whether a model is a LangChain chat model that this program passed as an object."""
    return spec.transport.startswith(LANGCHAIN) and spec.transport.removeprefix(LANGCHAIN) in settings.chat_models


def check_simulated(spec: ModelSpec) -> None:
    """Check that a simulated model exists.

    Raises:
        ConfigError: it does not; the message has the closest names.
    """
    if spec.transport != "sim":
        return
    from dokimasia.simulation.embedding import EMBEDDERS
    from dokimasia.simulation.image_edits import EDITORS
    from dokimasia.simulation.profiles import profiles

    name, simulated = spec.ref.model, (*profiles(), *EDITORS, *EMBEDDERS)
    if name not in simulated:
        raise ConfigError(
            f"there is no simulated model {name!r}{nearest(name, simulated) or ':'} `dokimasia models --simulated` lists all"
        )


def check_workers(request: "Invocation") -> None:
    """Check that the workers of a request can be started. It may block: call it in a thread.

    Raises:
        ConfigError: Ray is not installed, or nothing listens at its address.
    """
    if request.remote_workers:
        from dokimasia.distribution.cluster import Cluster

        Cluster(request.address).check()


def check_prices(specs: Mapping[str, ModelSpec], *, max_cost: float | None) -> None:
    """Check that a limit on cost can be kept.

    Raises:
        ConfigError: `max_cost` is given and a model's price is unknown.
    """
    if max_cost is None:
        return
    unpriced = sorted(name for name, spec in specs.items() if not known_price(spec).known)
    if unpriced:
        raise ConfigError(
            f"--max-cost needs the price of every model; unknown: {', '.join(unpriced)}. Set input_price and "
            "output_price (US dollars per million tokens), or image_price (per edited image), under [models.NAME] in "
            "dokimasia.toml, or limit by --max-calls or --max-tokens"
        )


def keys_of(settings: Settings, specs: Mapping[str, ModelSpec]) -> dict[str, str]:
    """Return the API keys by model, for models with a configured key variable.

    Raises:
        ConfigError: variables are not set; the message names all of them, with their models.
    """
    keys: dict[str, str] = {}
    missing: list[str] = []
    for name, spec in specs.items():
        try:
            key = api_key(settings, spec)
        except ConfigError as problem:
            missing.append(str(problem))
        else:
            keys.update({} if key is None else {name: key})
    if missing:
        raise ConfigError("; ".join(missing))
    return keys


@dataclass(eq=False)
class SharedServices:
    """The services shared by the runs that work over one open home at the same time.

    Attributes:
        traffic: pending calls, and the limits of endpoints.
        at_work: the future result of each run at work, by its id.
        users: the number of runs that use it.
        budgets_of: the budgets that a run shares with others, such as those of a service, by its id.
    """

    home: Home
    traffic: Traffic = field(default_factory=Traffic)
    at_work: "dict[str, asyncio.Future[Any]]" = field(default_factory=dict[str, Any])
    users: int = 0
    budgets_of: Callable[[str], Sequence[Budget]] = lambda run: ()
    _saver: "Saver | None" = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def saver(self) -> "Saver":
        """Return the saver of all graphs' checkpoints, opened at the first call.

        Raises:
            StorageError: the checkpoints are damaged or cannot be written.
        """
        from dokimasia.storage.checkpoints import open_saver

        if self._saver is None:
            self._saver = await self._stack.enter_async_context(open_saver(self.home))
        return self._saver

    async def aclose(self) -> None:
        """Close what was opened."""
        self._saver = None
        await self._stack.aclose()


_SHARED: WeakKeyDictionary[Home, SharedServices] = WeakKeyDictionary()


@asynccontextmanager
async def share_services(home: Home) -> AsyncIterator[SharedServices]:
    """Yield the shared services of an open home; the last user closes them. For one event loop."""
    shared = _SHARED.setdefault(home, SharedServices(home))
    shared.users += 1
    try:
        yield shared
    finally:
        shared.users -= 1
        if not shared.users:
            del _SHARED[home]
            await shared.aclose()


def is_at_work(home: Home, run_id: str) -> bool:
    """Return whether a run is at work in this process over this open home."""
    shared = _SHARED.get(home)
    return shared is not None and run_id in shared.at_work


async def _wait_for_workers(
    observer: Observer, stop: Stop, workers: int, address: str | None, work: Awaitable[None]
) -> None:
    """Wait for workers to start, unless the run is asked to stop; notify the observer of start and end."""
    observer.starting(workers, address)
    try:
        await unless_stopped(stop, work)
    finally:
        observer.starting(0, address)


@asynccontextmanager
async def open_services(
    settings: Settings,
    home: Home,
    library: PromptLibrary,
    run: str,
    specs: Mapping[str, ModelSpec],
    *,
    request: "Invocation",
    seed: int,
    observer: Observer,
    stop: Stop,
    transports: Mapping[str, Transport] | None = None,
) -> AsyncIterator[Services]:
    """Yield the services of a run; on exit, calls in flight are finished and committed.

    Decisions that people filed while the home was locked are imported at the beginning and the end. If the request
    allows every failure, an unreachable model does not stop the run. The caller closes the `transports` it passes.

    Raises:
        ConfigError: the key of a model is not in the environment.
        Unreachable: a model cannot be asked at all.
        StorageError: the home was deleted or moved.
    """
    from dokimasia.graphs.executor import LocalExecutor
    from dokimasia.storage.checkpoints import keeping_steps

    workers = request.remote_workers
    keys = keys_of(settings, specs)
    redact = Redactor((*settings.secrets, *keys.values()), patterns=False)
    await import_filed(home)
    people = QueuedPeople(home, run, specs)
    async with share_services(home) as shared, AsyncExitStack() as stack:
        saver = await shared.saver()
        ways = transports_of_run(specs, settings, library, transports)
        reduce = ReducedImages(home.blobs, reduce_image, home=home)
        store, local = SqliteValueStore(home), LocalExecutor(saver, observer.steps)
        ledger = SqliteLedger(home)
        if workers:
            from dokimasia.distribution.driver import RemoteCallLedger

            ledger = RemoteCallLedger(home)
        budget = Budget(
            **request.spending_limits,
            **spent_by(home, run)._asdict(),
            record=spending_recorder(home, run),
            above=shared.budgets_of(run),
        )
        gateway = FailFastGateway(
            stop,
            goes_on=request.allows_every_failure,
            ledger=ledger,
            blobs=home.blobs,
            transports={name: RemoteCallTransport(way) for name, way in ways.items()} if workers else ways,
            specs=specs,
            api_keys=keys,
            reduce=reduce,
            budget=budget,
            people=people,
            redact=redact,
            seed=seed,
            on_event=observer.happened,
            traffic=shared.traffic,
        )
        executor: Executor = local
        if workers:
            from dokimasia.distribution.driver import DriverPorts
            from dokimasia.distribution.engine import open_executor

            opened = open_executor(
                workers,
                request.address,
                library=library,
                driver_models=[
                    name for name, spec in specs.items() if transports or spec.ref.person or is_given(spec, settings)
                ],
                make_transports=transports_for_models,
                ports=DriverPorts(gateway, HomeRows(home), saver, home.blobs, reduce, specs, observer.steps),
                local=local,
                keys=keys if settings.worker_keys == "sent" else None,
                waiting=partial(_wait_for_workers, observer, stop, workers, request.address),
            )
            executor = await unless_stopped(stop, stack.enter_async_context(opened))
        services = Services(gateway=gateway, store=store, saver=saver, specs=specs, people=people, executor=executor)
        async with _until_ended(gateway, home, stop, close=not transports):
            with keeping_steps(home):
                yield services


@asynccontextmanager
async def _until_ended(gateway: ModelGateway, home: Home, stop: Stop, *, close: bool) -> AsyncIterator[None]:
    """Watch the home and `stop` while a run is at work; at the end, finish its calls in flight and import filed decisions.

    Args:
        gateway: sends no call any more once `stop` is set.
        home: the home of the run.
        stop: ends the run.
        close: whether the transports of the gateway are closed, too.

    Raises:
        StorageError: the home was deleted or moved.
    """

    async def drain_when_asked() -> None:
        await stop.wait()
        await (gateway.abort() if stop.at_once else gateway.drain())

    helpers = [asyncio.create_task(drain_when_asked()), asyncio.create_task(watch_home(home, stop))]
    try:
        yield
        if not home.in_place:
            raise home_gone(home)
    except Exception as error:
        problem = stop.problem if home.in_place else home_gone(home)
        if problem is None:
            raise
        raise problem from error
    finally:
        for helper in helpers:
            helper.cancel()
        if stop.at_once:
            await gateway.abort()
        await (gateway.aclose() if close else gateway.drain())
        if home.in_place:
            await import_filed(home)
