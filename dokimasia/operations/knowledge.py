"""Models with their measurements, models added to the home, and prompts."""

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from dokimasia.domain.call import Capability, Sampling, Weights
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import nearest
from dokimasia.endpoints.added import add_model, check_new_model, remove_model
from dokimasia.endpoints.models import KeyListed, ModelListed, chosen_models, list_models
from dokimasia.errors import NotFound
from dokimasia.log import logger
from dokimasia.operations.operation import Body, OperationContext, Parameter, operation
from dokimasia.prompts import default_library
from dokimasia.prompts.library import shipped_text

TAG = "models and prompts"


class ModelShown(BaseModel):
    """A model: its name and the model it stands for, its limits, its price, and the measured abilities of its endpoint."""

    name: str
    model: str
    endpoint: str
    transport: str | None = Field(description="null where there is no way to it")
    problem: str | None = Field(description="why there is none")
    key: Literal["set", "not set"] | None = Field(description="whether its key is there; null where it needs none")
    max_concurrency: int
    start_concurrency: int
    rpm: int | None
    tpm: int | None
    timeout: float
    max_image_side: int | None
    price: JsonObject = Field(
        description="US dollars per million tokens and per edited image, and where they come from"
    )
    capabilities: list[str] = Field(description="as configured")
    measured: JsonObject | None = Field(description="what `dokimasia models --check` saw; null: never checked")
    structured_output: bool = Field(description="whether it is held to JSON schemas")
    about: str | None = Field(default=None, description="of a simulated model, what is planted in it")
    added: bool = Field(default=False, description="whether it was added to the home, so that it can be changed")


class Models(BaseModel):
    """The configured models and, on request, the simulated ones."""

    models: list[ModelShown]


Price = Annotated[float | None, Field(ge=0, le=1_000_000, strict=True, allow_inf_nan=False)]
Count = Annotated[int | None, Field(ge=1, le=1_000_000_000, strict=True)]


def _split(value: object) -> object:
    """Return a text with commas as its parts, without spaces; anything else as it is."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value


class ModelSent(Body):
    """The settings of a model to add to the home, as in a table of dokimasia.toml; omitted ones have their defaults."""

    model: str = Field(
        min_length=1,
        max_length=400,
        description="LiteLLM name of the model.",
        examples=["hosted_vllm/Qwen/Qwen2.5-VL-7B"],
    )
    api_base: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Address of a server of your own, such as http://127.0.0.1:8000/v1; empty for the provider's.",
    )
    api_key_env: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Environment variable, where Dokimasia runs, that holds the key; never the key itself.",
    )
    input_price: Price = Field(default=None, description="US dollars per million input tokens.")
    output_price: Price = Field(default=None, description="US dollars per million output tokens.")
    rpm: Count = Field(default=None, description="Requests a minute, at most.")
    tpm: Count = Field(default=None, description="Tokens a minute, at most.")
    max_concurrency: Count = Field(default=None, description="Requests at once, at most.")
    capabilities: Annotated[tuple[Capability, ...], BeforeValidator(_split)] = Field(
        default=(), description="Among vision, json_schema, tools and image_edit, separated by commas."
    )
    endpoint: str | None = Field(
        default=None,
        min_length=1,
        max_length=400,
        description="Name of the place in the ledger, so that its address may change; by default the address.",
    )
    transport: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="How it is asked: direct, litellm, sim, or auto, which chooses.",
    )
    start_concurrency: Count = Field(default=None, description="Requests at once with which a run begins.")
    timeout: Annotated[float | None, Field(gt=0, le=86_400, strict=True)] = Field(
        default=None, description="Seconds for a call."
    )
    cached_input_price: Price = Field(
        default=None, description="US dollars per million input tokens that the provider reads from its cache."
    )
    cache_write_price: Price = Field(
        default=None, description="US dollars per million input tokens that it writes into its cache."
    )
    image_price: Price = Field(default=None, description="US dollars per edited image, of an image model.")
    hourly_rate: Price = Field(default=None, description="US dollars per hour of a person (human/NAME).")
    max_image_side: Annotated[int | None, Field(ge=64, le=100_000)] = Field(
        default=None, description="Longest side in pixels of an image that is sent; larger ones are made smaller."
    )
    weights: Weights | None = Field(default=None, description="Whether its weights are open or proprietary.")
    parameters: str | None = Field(default=None, max_length=20, description="Its size, such as 7B or 235B-A22B.")
    sampling: Sampling | None = Field(default=None, description="Temperature and other parameters of sampling.")

    def as_table(self) -> JsonObject:
        """Return the settings sent as a table of dokimasia.toml."""
        return self.model_dump(mode="json", exclude_defaults=True)


class ModelRemoved(BaseModel):
    """The name of a model removed from the home."""

    name: str


ModelName = Annotated[str, Parameter(min_length=1, max_length=400, description="Its name, as runs give it.")]


class PromptShown(BaseModel):
    """A prompt: its name, version and hash, which are stored with every judgement, its output and inputs, and its source."""

    name: str
    version: int
    output: str
    inputs: JsonObject
    source: str
    hash: str


class PromptText(PromptShown):
    """A prompt with its text."""

    text: str = Field(description="as its file holds it")


class Prompts(BaseModel):
    """The prompts that ship with the package."""

    prompts: list[PromptShown]


@operation("GET", "/models", tag=TAG)
def models(
    context: OperationContext,
    simulated: Annotated[
        bool, Parameter(description="Also list the simulated models that ship with the package.")
    ] = False,
) -> Models:
    """List the configured models with prices and measurements; of a key, only whether it is set."""
    entries = list_models(context.settings, chosen_models(context.settings, simulated=simulated))
    return Models(models=[_model_shown(model) for model in entries])


@operation("PUT", "/models/{name:path}", tag=TAG, right="operate", creates=True)
async def put_model(context: OperationContext, name: ModelName, body: ModelSent) -> ModelShown:
    """Add a model to the home, or replace the settings of an added model, and return it.

    Its key is never sent, only the name of the environment variable that holds it. A model of dokimasia.toml is changed
    in that file, and a model that an unfinished run asks cannot be changed.
    """
    await asyncio.to_thread(check_new_model, context.settings, name, body.as_table())  # loading LiteLLM takes seconds
    settings = add_model(context.home, context.settings, name, body.as_table())
    _log_change(context, "a model is configured", name)
    context.configure(settings)
    (added,) = list_models(settings, chosen_models(settings, [name]))
    return _model_shown(added)


@operation("DELETE", "/models/{name:path}", tag=TAG, right="operate", conflict=True)
async def delete_model(context: OperationContext, name: ModelName) -> ModelRemoved:
    """Remove a model that was added to the home and that no unfinished run asks; runs that asked it stay unchanged."""
    settings = remove_model(context.home, context.settings, name)
    _log_change(context, "a model is removed", name)
    context.configure(settings)
    return ModelRemoved(name=name)


@operation("GET", "/prompts", tag=TAG)
def prompts(context: OperationContext) -> Prompts:
    """List the prompts that ship with the package."""
    return Prompts(prompts=[_prompt_shown(name) for name in default_library().names()])


@operation("GET", "/prompts/{name}", tag=TAG)
def one_prompt(context: OperationContext, name: str) -> PromptText:
    """Show a prompt with its text."""
    names = default_library().names()
    if name not in names:
        hint = nearest(name, names) or ";"
        raise NotFound(f"no prompt is called {name[:80]!r}{hint} `dokimasia prompts` lists all")
    return PromptText(**_prompt_shown(name).model_dump(), text=shipped_text(name))


def _prompt_shown(name: str) -> PromptShown:
    prompt = default_library().get(name)
    return PromptShown.model_validate(prompt.model_dump(include=set(PromptShown.model_fields)))


def _model_shown(model: ModelListed) -> ModelShown:
    key = model.key
    if isinstance(key, KeyListed):
        key = "set" if key.present else "not set"
    return ModelShown.model_validate({**model.as_json(), "key": key})


def _log_change(context: OperationContext, event: str, model: str) -> None:
    """Log a change to the models: as a warning in a service, otherwise as information."""
    log = logger(__name__)
    if context.person:
        log.warning(event, model=model, who=context.person)
    else:
        log.info(event, model=model)
