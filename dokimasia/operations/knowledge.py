"""What there is to ask with: models with what was measured of them, and prompts."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from dokimasia.domain.identity import JsonObject
from dokimasia.endpoints.models import KeyListed, ModelListed, chosen_models, list_models
from dokimasia.errors import NotFound
from dokimasia.operations.operation import OperationContext, Parameter, operation
from dokimasia.prompts import default_library
from dokimasia.prompts.library import shipped_text

TAG = "models and prompts"


class ModelShown(BaseModel):
    """A model: what it is called and asked as, its limits, its price, and what its endpoint was measured to do."""

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


class Models(BaseModel):
    """The models that are configured, and where asked for those that are simulated."""

    models: list[ModelShown]


class PromptShown(BaseModel):
    """A prompt: name, version and hash, which stand beside every judgement, what it gives and takes, where it is from."""

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
    """List the configured models with prices and what was measured; nothing of a key but whether it is set."""
    entries = list_models(context.settings, chosen_models(context.settings, simulated=simulated))
    return Models(models=[_model_shown(model) for model in entries])


@operation("GET", "/prompts", tag=TAG)
def prompts(context: OperationContext) -> Prompts:
    """List the prompts that ship with the package."""
    return Prompts(prompts=[_prompt_shown(name) for name in default_library().names()])


@operation("GET", "/prompts/{name}", tag=TAG)
def one_prompt(context: OperationContext, name: str) -> PromptText:
    """Show a prompt with its text."""
    names = default_library().names()
    if name not in names:
        raise NotFound(f"no prompt is called {name[:80]!r}; there are: {', '.join(names)}")
    return PromptText(**_prompt_shown(name).model_dump(), text=shipped_text(name))


def _prompt_shown(name: str) -> PromptShown:
    prompt = default_library().get(name)
    return PromptShown.model_validate(prompt.model_dump(include=set(PromptShown.model_fields)))


def _model_shown(model: ModelListed) -> ModelShown:
    key = model.key
    if isinstance(key, KeyListed):
        key = "set" if key.present else "not set"
    return ModelShown.model_validate({**model.as_json(), "key": key})
