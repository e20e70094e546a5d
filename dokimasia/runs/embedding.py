"""Graphs and roles inside other programs: contexts that open on use, and each graph as a runnable."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pydantic import ValidationError
from typing_extensions import Unpack

from dokimasia.agents import PromptLibrary
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import BlobStore, Ledger, Transport, ValueStore
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError, faults_of
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.traffic import Traffic
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.runnable import GraphRunnable, borrowed, check_judge, own_graph, signature_of
from dokimasia.graphs.signatures import SIGNATURES
from dokimasia.log import Redactor
from dokimasia.plugins import entry_points_of, load
from dokimasia.runs.plans import with_known_price
from dokimasia.runs.services import (
    check_prices,
    check_simulated,
    keys_of,
    transports_of_run,
)
from dokimasia.runs.wording import errors_in_python
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.content.reduced import ReducedImages
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.memory import MemoryLedger, MemoryStore
from dokimasia.storage.runs import SqliteValueStore
from dokimasia.tools.reducing import reduce_image

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class ContextServices(TypedDict, total=False):
    """The optional services of a context.

    Attributes:
        settings: configuration and keys; read from the environment by default.
        chat_models: LangChain chat models by the names that requests use for them.
        blobs: store of the samples' images.
        ledger: a ledger that outlives the context.
        store: a store of values that outlives the context.
        transports: transports that replace the package's own; the caller closes them.
        prompts: prompts that replace the package's own.
        budget: spending limits.
        seed: seed of all draws.
        traffic: pending calls and endpoint limits, shared with other gateways on the same ledger.
    """

    settings: Settings | None
    chat_models: "Mapping[str, BaseChatModel] | None"
    blobs: BlobStore | None
    ledger: Ledger | None
    store: ValueStore | None
    transports: Mapping[str, Transport] | None
    prompts: PromptLibrary | None
    budget: Budget | None
    seed: int
    traffic: Traffic | None


@asynccontextmanager
async def memory_context(
    *,
    judge: str = "",
    models: Sequence[str] = (),
    options: GraphOptions | None = None,
    **services: Unpack[ContextServices],
) -> AsyncIterator[Context]:
    """Open a context for agents and graphs without a home; values and ledger live as long as the context.

    Args:
        judge: name of the judge, from the configuration or any LiteLLM name; optional where no judge is asked.
        models: names of other models that will be asked.
        options: options of the graph; their judge and models are those of this context.
        services: see `ContextServices`.

    Raises:
        ConfigError: an argument or a model is unknown, or a key is not in the environment.
    """
    _check_services("memory_context", services, ("judge", "models", "options"))
    chat_models, transports = services.get("chat_models") or {}, services.get("transports")
    settings = (services.get("settings") or load_settings()).with_chat_models(chat_models)
    names = dict.fromkeys(filter(None, (*models, *chat_models, judge)))
    specs = {name: with_known_price(resolve_model(settings, name)) for name in names}
    for spec in specs.values() if "sim" not in (transports or ()) else ():
        check_simulated(spec)
    budget, prompts = services.get("budget"), services.get("prompts")
    check_prices(specs, max_cost=budget.max_cost if budget else None)
    keys = keys_of(settings, specs)
    blobs = services.get("blobs") or MemoryBlobs()
    seed = services.get("seed", 0)
    asked = transports_of_run(specs, settings, prompts, transports)
    gateway = ModelGateway(
        ledger=services.get("ledger") or MemoryLedger(),
        blobs=blobs,
        transports=asked,
        specs=specs,
        api_keys=keys,
        reduce=ReducedImages(blobs, reduce_image),
        budget=budget,
        redact=Redactor((*settings.secrets, *keys.values()), patterns=False),
        seed=seed,
        traffic=services.get("traffic"),
    )
    reached = {"judge": judge, "models": specs}
    own = GraphOptions(judge=judge, models=specs) if options is None else options.model_copy(update=reached)
    try:
        yield Context(gateway, services.get("store") or MemoryStore(), own, seed, prompts, blobs)
    finally:
        await gateway.drain()
        for name, transport in asked.items():
            if transport is not (transports or {}).get(name):  # the caller closes the others
                await transport.aclose()


def _check_services(
    function: str, services: ContextServices, own: Sequence[str] = (), options: Sequence[str] = ()
) -> None:
    """Check that a function accepts all the arguments it was called with.

    Args:
        function: the function's name, as called.
        services: the arguments.
        own: the function's other arguments.
        options: the graph's options, which the message lists as alternatives.

    Raises:
        ConfigError: an argument is unknown; the message names it, and the options of the graph.
    """
    arguments = (*own, *ContextServices.__annotations__)
    for name in services.keys() - set(arguments):
        hint = nearest(name, (*arguments, *options))
        if name in options:
            hint = f": it is an option of the graph, options={{{name!r}: ...}}"
        listed = f"; it takes {', '.join(arguments)}"
        if options:
            listed += f"; the graph has the options {', '.join(options)}"
        raise ConfigError(f"{function} takes no {name}={hint}{listed}")


@contextmanager
def _stored_in(home: str | Path | Home | None, services: ContextServices) -> Iterator[ContextServices]:
    """Yield the services, completed with the ledger, values and images of a home if one is named."""
    if home is None:
        yield services
        return
    with ExitStack() as stack:
        opened = home
        if not isinstance(opened, Home):
            opened = stack.enter_context(Home.open(Path(opened).expanduser(), write=True))
        stores = ContextServices(ledger=SqliteLedger(opened), store=SqliteValueStore(opened), blobs=opened.blobs)
        stores.update({name: service for name, service in services.items() if service is not None})  # pyright: ignore
        yield stores


@dataclass(frozen=True)
class _Opening:
    """Opens the context of a graph's calls."""

    judge: str
    models: Sequence[str]
    options: GraphOptions
    home: str | Path | Home | None
    services: ContextServices

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Context]:
        """Open the context."""
        arguments = {f"--{name}": name for name in ("home", "judge", "models", "prompts")}
        with errors_in_python(arguments), _stored_in(self.home, self.services) as services:
            async with memory_context(
                judge=self.judge, models=self.models, options=self.options, **services
            ) as context:
                yield context


def graph_named(name: str) -> GraphFile:
    """Return a graph of the package, or of a plug-in.

    Raises:
        ConfigError: there is none of that name; the message lists the names.
    """
    if name in SIGNATURES:
        return own_graph(name)
    plugged = entry_points_of("graphs")
    if name in plugged:
        return load("graphs", name)
    names = [*SIGNATURES, *plugged]
    raise ConfigError(f"there is no graph {name!r}{nearest(name, names) or '.'} There are: {', '.join(sorted(names))}")


def as_runnable(
    name: str | GraphFile,
    context: Context | None = None,
    *,
    judge: str = "",
    models: Sequence[str] = (),
    home: str | Path | Home | None = None,
    values: bool | None = None,
    options: GraphOptions | Mapping[str, object] | None = None,
    **services: Unpack[ContextServices],
) -> GraphRunnable:
    """Return a graph as a typed LangChain runnable that opens its own context.

    The runnable works alone (`await runnable.ainvoke({...})`), in a pipe, inside a node, and as a node of any LangGraph
    graph. `astream` yields each step as `{node: update}`. `input_schema` and `output_schema` describe its input and
    output; `docs/reference/graphs.md` lists both for each graph.

    Args:
        name: the graph's name, of the package or of a plug-in, or a module that defines a graph.
        context: a context that the caller has opened and closes (see `memory_context`). Without one each call opens
            one, which concurrent calls share.
        judge: name of the judge, required if the graph asks a judge; see `judge` of its signature.
        models: names of the other models to ask, including those of `chat_models` and of the options.
        home: a folder, or an open home, whose ledger answers calls already paid for; by default everything stays in
            memory.
        values: whether the output contains values instead of their ids; by default only without a context.
        options: options of the graph, such as `{"panel": ("a", "b")}` for `peer_review`.
        services: see `ContextServices`.

    Raises:
        ConfigError: there is no such graph, an argument or an option cannot be used, or the graph asks a judge and none
            is named.
    """
    graph = graph_named(name) if isinstance(name, str) else name
    signature = signature_of(graph)
    _check_services(
        f"as_runnable({graph.NAME!r})",
        services,
        ("context", "judge", "models", "home", "values", "options"),
        tuple(signature.options.model_fields),
    )
    if context is not None:
        if judge or models or home is not None or services:
            raise ConfigError("as_runnable takes a context, or what one is opened with, and not both")
        if options is not None:
            own = _options_of(graph, options, dict(context.options))
            _check_names(graph.NAME, own, signature.names)
            context = replace(context, options=own)
        _check_judged(graph, context.options)
        return GraphRunnable(graph, borrowed(context), values=bool(values), borrowed=True)
    own = _options_of(graph, options or {}, {"judge": judge})
    names = [*models, *_named(own, signature.names), *(services.get("chat_models") or ())]
    judge = judge or own.judge
    _check_judged(graph, own.model_copy(update={"judge": judge}))
    settings = services.get("settings") or load_settings()
    services["settings"] = settings.with_chat_models(services.get("chat_models"))
    opening = _Opening(judge, tuple(names), own, home, services)
    return GraphRunnable(graph, opening, values=values is not False)


def _check_judged(graph: GraphFile, options: GraphOptions) -> None:
    """Check that the options name a judge if the graph asks one for every input.

    Raises:
        ConfigError: no judge is named.
    """
    judged = signature_of(graph).judge
    if judged == "yes" or (judged == "without checker" and not getattr(options, "checker", "")):
        check_judge(graph.NAME, options.judge)


def _options_of(
    graph: GraphFile, options: GraphOptions | Mapping[str, object], base: Mapping[str, object]
) -> GraphOptions:
    """Return the options of a graph, the given ones merged over a base.

    Raises:
        ConfigError: an option is missing, unknown or of another type.
    """
    type_ = signature_of(graph).options
    if isinstance(options, GraphOptions):
        return options
    shared = {name: value for name, value in base.items() if name in type_.model_fields}
    try:
        return type_.model_validate({**shared, **options})
    except ValidationError as error:
        raise ConfigError(f"options of the graph {graph.NAME!r}: {faults_of(error)}") from None


def _named(options: GraphOptions, fields: Sequence[str]) -> Iterator[str]:
    """Yield the names of models in the options of a graph."""
    yield from options.judges.values()
    for field in fields:
        value = getattr(options, field)
        for name in (value,) if isinstance(value, str) else value:
            if name and name != type(options).model_fields[field].default:
                yield name


def _check_names(graph: str, options: GraphOptions, fields: Sequence[str]) -> None:
    strangers = sorted(set(_named(options, fields)) - options.models.keys())
    if strangers:
        raise ConfigError(
            f"the graph {graph!r} asks {', '.join(strangers)}, not among the context's models: "
            f"{', '.join(sorted(options.models))}"
        )
