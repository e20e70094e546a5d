"""Configured models: each with transport, key variable, limits, price and capabilities, never with the key itself."""

from collections.abc import Collection, Sequence
from typing import Literal

from pydantic import BaseModel

from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.profile import EndpointFindings, EndpointProfile
from dokimasia.endpoints.capabilities import settled
from dokimasia.errors import ConfigError, NotFound, StorageError
from dokimasia.gateway.pricing import known_price
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.runs.plans import SIMULATED, with_known_price
from dokimasia.runs.services import check_simulated, transports_for_models
from dokimasia.settings import Settings, resolve_model
from dokimasia.simulation.image_edits import EDITORS
from dokimasia.simulation.profiles import planted_in
from dokimasia.simulation.profiles import profiles as simulated_profiles
from dokimasia.storage.home import Home
from dokimasia.storage.profiles import list_profiles


class KeyListed(BaseModel):
    """The environment variable of a model's key, and whether it is set."""

    variable: str
    present: bool


class PriceListed(BaseModel):
    """US dollars per million tokens, per edited image, or of a person per hour, and their source; None: unknown."""

    input: float | None
    output: float | None
    image: float | None = None
    hour: float | None = None
    source: Literal["configuration", "list", "simulated", "person"] | None


class ModelListed(BaseModel):
    """A model as `dokimasia models --json` prints it: the fields that are set.

    `key` is from a service `set` or `not set`, without the variable; `about` says what is planted in a simulated model;
    `added` whether the home's models.toml configures it.
    """

    name: str
    model: str
    endpoint: str
    api_base: str | None = None
    max_concurrency: int
    start_concurrency: int
    rpm: int | None
    tpm: int | None
    timeout: float
    max_image_side: int | None
    about: str | None = None
    transport: str | None
    problem: str | None
    key: KeyListed | Literal["set", "not set"] | None
    price: PriceListed
    capabilities: list[str]
    measured: EndpointFindings | None
    structured_output: bool
    added: bool

    def as_json(self) -> JsonObject:
        """Return the set fields as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)


def chosen_models(settings: Settings, names: Sequence[str] = (), *, simulated: bool = False) -> list[ModelSpec]:
    """Return the named models, or all configured ones; `simulated` adds those shipped with the package.

    Raises:
        ConfigError: a name is neither configured nor a possible LiteLLM name.
    """
    chosen = list(names) or sorted(settings.models)
    if simulated:
        chosen += (*simulated_profiles(), *EDITORS)
    specs = [with_known_price(resolve_model(settings, name)) for name in dict.fromkeys(chosen)]
    for spec in specs:
        if spec.ref.name in names:
            check_simulated(spec)
    return specs


def list_models(
    settings: Settings, specs: Sequence[ModelSpec], *, transports: Collection[str] | None = None
) -> list[ModelListed]:
    """Return a description of each model; measured profiles come from the home, if there is one.

    If the home cannot be read, simulated models are listed without their profiles.

    Args:
        settings: configuration, home and available keys.
        specs: the models.
        transports: names of the available transports; by default the package's own and those of plug-ins.

    Raises:
        StorageError: the home is damaged or of another version.
    """
    try:
        with Home.open(settings.home, write=False) as home:
            measured = list_profiles(home)
    except NotFound:
        measured = []
    except StorageError:
        if not all(map(_in_process, specs)):
            raise
        measured = []
    return [_described(spec, settings, transports, measured) for spec in specs]


def _described(
    spec: ModelSpec, settings: Settings, transports: Collection[str] | None, measured: Sequence[EndpointProfile]
) -> ModelListed:
    profile = next((candidate for candidate in measured if candidate.belongs_to(spec.ref)), None)
    variable = spec.api_key_env
    try:
        ways = transports_for_models({spec.ref.name: spec}) if transports is None else transports
        transport, problem = chosen_transport_name(spec, ways), None
    except ConfigError as error:
        transport, problem = None, str(error)
    return ModelListed.model_validate(
        {
            **spec.ref.model_dump(),
            **spec.model_dump(include={"api_base", "max_concurrency", "rpm", "tpm", "timeout", "max_image_side"}),
            **({"about": planted_in()[spec.ref.model]} if _in_process(spec) and spec.ref.model in planted_in() else {}),
            "transport": transport,
            "problem": problem,
            "key": None
            if variable is None
            else KeyListed(variable=variable, present=bool(settings.keys.get(variable))),
            "start_concurrency": min(spec.start_concurrency, spec.max_concurrency),
            "price": _price(spec),
            "capabilities": spec.capabilities,
            "measured": None if profile is None else profile.model_dump(exclude={"model", "endpoint"}),
            "structured_output": takes_schema(settled(spec, profile)),
            "added": spec.ref.name in settings.added,
        }
    )


def _in_process(spec: ModelSpec) -> bool:
    """Return whether a model is simulated in this process."""
    return spec.ref.model.startswith(SIMULATED) and spec.api_base is None


def _price(spec: ModelSpec) -> PriceListed:
    price = known_price(spec)
    source = None
    if price.known or price.input is not None or price.output is not None:
        configured = any(amount is not None for amount in (spec.input_price, spec.output_price, spec.image_price))
        source = "configuration" if configured else "list"
        if _in_process(spec):
            source = "simulated"
    if spec.ref.person:
        return PriceListed(input=0.0, output=0.0, hour=spec.hourly_rate, source="person")
    edited = {} if price.image is None else {"image": price.image}
    return PriceListed(input=price.input, output=price.output, **edited, source=source)
