"""`--dry-run`: a run's id, estimate and one prompt of each kind; nothing is sent or stored."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import Spending
from dokimasia.errors import ConfigError, NotFound
from dokimasia.gateway.litellm.transport import missing_keys, provider_problem
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.prompts import PromptLibrary, Rendered
from dokimasia.runs.estimate import limit_notes
from dokimasia.runs.method import Method
from dokimasia.runs.plans import RunPlan, as_configured, run_id
from dokimasia.runs.rehearsal import accept_with_estimate
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.runs.services import is_given, keys_of, transports_for_models
from dokimasia.runs.session import Accepted, Session
from dokimasia.settings import Settings, api_key
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.spending import spent_by
from dokimasia.storage.usage import count_calls

REPAIR = "repair"
"""The prompt that returns an unusable reply to the model; a preview omits it."""

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)


async def prepare(
    method: Method[Q, P], request: Q, *, settings: Settings, library: PromptLibrary | None = None, given: object = None
) -> Accepted[P]:
    """Return a request as it would be accepted, without storing anything or creating a home.

    Raises:
        InputError: the data, the configuration or the options cannot be used.
    """
    library = method.library(request, given) if library is None else library
    home = _home(settings, request)
    try:
        return await accept_with_estimate(method, request, Session(settings, home, library, given=given, dry=True))
    finally:
        if home is not None:
            home.close()


def preview(method: Method[Q, P], request: Q, *, settings: Settings, given: object = None) -> dict[str, object]:
    """Return a run's id, its estimate and its prompts, ready for JSON.

    Raises:
        InputError: see `prepare`.
    """
    library = method.library(request, given)
    accepted = asyncio.run(prepare(method, request, settings=settings, library=library, given=given))
    id = run_id(method, accepted.plan)
    begun: dict[str, object] = {}
    spent = Spending()
    if not request.fresh:
        with suppress(NotFound), Home.open(settings.home, write=False) as home:
            begun = begun_json(home, get_run(home, id))
            spent = spent_by(home, id)
    return {
        "run": id,
        **estimate_json(accepted, request, spent),
        **begun,
        "prompts": prompts_json(method, accepted, library),
    }


def check_keys(settings: Settings, previewed: Mapping[str, Any]) -> None:
    """Check that every model of a preview has its key: the configured one, or its provider's own.

    Raises:
        ConfigError: the message names all unset variables.
    """
    specs = {name: as_configured(settings, name) for name in previewed["models"]}
    missing = lacking_keys(settings, {name: spec for name, spec in specs.items() if spec is not None})
    if missing:
        raise ConfigError("; ".join(missing))


def require_keys(
    settings: Settings,
    specs: Mapping[str, ModelSpec],
    request: Invocation,
    *,
    asked: Collection[str],
    transports: Collection[str] = (),
    way_out: str = "",
) -> None:
    """Check that the models of a run have their keys, before anything of the run is stored. It may block.

    Args:
        settings: the configuration and the environment.
        specs: the run's models by name.
        request: the run's request; if it allows every failure, keys of providers may be missing.
        asked: the models that the run calls, which therefore also need a key of their provider.
        transports: names of transports that replace the package's own.
        way_out: the end of the message.

    Raises:
        ConfigError: the message names every unset variable, with its model, and every model without a provider.
    """
    keys_of(settings, specs)
    if "litellm" in transports or request.allows_every_failure:
        return
    called = {name: spec for name, spec in specs.items() if name in asked and not is_given(spec, settings)}
    if missing := lacking_keys(settings, called, api_keys_only=True, transports=transports):
        raise ConfigError(f"{'; '.join(missing)}{way_out}")


def lacking_keys(
    settings: Settings,
    specs: Mapping[str, ModelSpec],
    *,
    api_keys_only: bool = False,
    transports: Collection[str] = (),
) -> list[str]:
    """Return a sentence for each model whose key is not set: the configured one, or its provider's own.

    A model without a provider known to LiteLLM is listed, too.

    With `api_keys_only`, only variables whose name ends in `_API_KEY` count: some clouds take other credentials instead
    of the variables that LiteLLM knows. `transports` are those of a program, which need no key here.
    """
    missing: list[str] = []
    available = {*transports_for_models(specs), *transports}
    for name, spec in specs.items():
        try:
            api_key(settings, spec)
        except ConfigError as problem:
            missing.append(str(problem))
        if spec.api_key_env is None and spec.api_base is None and chosen_transport_name(spec, available) == "litellm":
            if problem := provider_problem(spec.ref.model, None):
                missing.append(problem)
                continue
            names = missing_keys(spec.ref.model)
            if api_keys_only and not all(name.endswith("_API_KEY") for name in names):
                names = []
            missing += [f"model {name}: {_not_set(names)} in the environment"] if names else []
    return missing


def _not_set(names: Sequence[str]) -> str:
    """Return which environment variables are not set.

    Examples:
        >>> _not_set(["A_KEY"]), _not_set(["A_KEY", "B_KEY"])
        ('A_KEY is not set', 'neither A_KEY nor B_KEY is set')
    """
    if len(names) == 1:
        return f"{names[0]} is not set"
    return f"neither {' nor '.join(names)} is set"


def begun_json(home: Home, run: Run) -> dict[str, object]:
    """Return a run's status and the number of calls it has made; empty if it has made none."""
    answered = calls_made(home, run.id)
    if answered:
        return {"answered": answered, "status": run.status}
    return {}


def calls_made(home: Home, run: str) -> int:
    """Return how many calls a run has sent or rests on; more of them may have been answered by the ledger than sent."""
    return max(count_calls(home, run), spent_by(home, run).calls)


def prompts_json(method: Method[Q, P], accepted: Accepted[P], library: PromptLibrary) -> dict[str, object]:
    """Return one prompt of each kind, ready for JSON: rendered for the first sample, or as stored in the library."""
    if method.previews is None or accepted.first is None:
        return {**_templates(accepted.plan, library)}
    return {prompt.name: _messages(prompt) for prompt in method.previews(accepted.plan, accepted.first, library)}


def estimate_json(accepted: Accepted[RunPlan], request: Invocation, spent: Spending) -> JsonObject:
    """Return the remaining calls and cost of a run, ready for JSON, with the image limit of the models that have one.

    Args:
        accepted: the accepted request.
        request: the spending limits; notes state whether they will probably stop the run.
        spent: what the run has spent.
    """
    estimate = accepted.estimate
    notes = limit_notes(request.spending_limits, spent, estimate)
    estimate = estimate.model_copy(update={"notes": (*estimate.notes, *notes)})
    sides = {
        name: spec.max_image_side for name, spec in accepted.plan.models.items() if spec.max_image_side is not None
    }
    return estimate.shown() | ({"max_image_side": sides} if sides else {})


def _home(settings: Settings, request: RunRequest) -> Home | None:
    """Return the home, open for reading; None if there is none and the request needs none."""
    try:
        return Home.open(settings.home, write=False)
    except NotFound:
        if not request.makes_home:
            raise
        return None


def _templates(plan: RunPlan, library: PromptLibrary) -> dict[str, list[dict[str, object]]]:
    """Return the prompts of a plan as stored in the library, with the names of their inputs in double braces."""
    templates: dict[str, list[dict[str, object]]] = {}
    for prompt in (library.get(name) for name in plan.prompts if name != REPAIR):
        texts = {"system": prompt.instructions(1), "user": prompt.user}
        templates[prompt.name] = [{"role": role, "text": text, "images": 0} for role, text in texts.items() if text]
    return templates


def _messages(rendered: Rendered) -> list[dict[str, object]]:
    return [
        {"role": message.role, "text": message.text, "images": len(message.images)} for message in rendered.messages
    ]
