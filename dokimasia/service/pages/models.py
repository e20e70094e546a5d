"""The page of models: the permitted models, a check of each, and a form for an operator to add,
edit and remove them.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from pydantic import JsonValue

from dokimasia.domain.identity import JsonObject
from dokimasia.endpoints.added import added_table, check_new_model, field_of_fault
from dokimasia.endpoints.models import KeyListed, ModelListed, chosen_models, list_models
from dokimasia.endpoints.probing import ModelCheck, check_models
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.log import logger
from dokimasia.operations.knowledge import ModelSent, delete_model, put_model
from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.reading.reporting import redact_texts
from dokimasia.service.drawing import page
from dokimasia.service.forms import (
    FieldGroup,
    InputField,
    body_groups,
    find_faults,
    parse_form,
    texts_from_request,
    texts_of,
    values_of,
)
from dokimasia.service.guard import Caller
from dokimasia.service.request_parsing import validate_json
from dokimasia.service.routing import Operating
from dokimasia.service.state import Operator, Reader, Service, TheService

router = APIRouter()

FIRST = (
    "model",
    "api_base",
    "api_key_env",
    "input_price",
    "output_price",
    "rpm",
    "tpm",
    "max_concurrency",
    "capabilities",
)
"""The settings that most models need; the others are folded."""

NAME = InputField(
    name="name", kind="text", required=True, hint="What runs call it: no spaces, commas, # or =.", flag=""
)
ModelName = Annotated[str, Form(max_length=400)]


def model_groups(*, named: bool = True) -> list[FieldGroup]:
    """Return the form of a model: if `named` its name, the usual settings, then the others, which are folded."""
    first, others = body_groups(ModelSent, FIRST, leave_out=("sampling",))
    if not named:
        return [first, others]
    return [FieldGroup("", (NAME, *first.controls), folded=False), others]


@router.get("/models")
def models(
    request: Request,
    service: TheService,
    person: Reader,
    edit: Annotated[str, Query(max_length=400)] = "",
    saved: Annotated[str, Query(max_length=400)] = "",
) -> Response:
    """Show the models, with a form to add one, or to edit an added one."""
    values: Mapping[str, tuple[str, ...]] = {}
    if edit:
        table = added_table(service.settings, edit)
        values = {name: texts for name, texts in texts_from_request(model_groups(), table).items() if texts}
        values = {**values, "name": (edit,)}
    return _models_page(request, service, person, edited=edit, values=values, saved=saved)


@router.post("/models")
async def save_model(request: Request, service: TheService, person: Operator, context: Operating) -> Response:
    """Add a model, or save an edited one; errors are shown next to their fields."""
    texts = await texts_of(request)
    groups, edited = model_groups(), texts.get("edited", [""])[0]
    values = values_of(groups, {**texts, **({"name": [edited]} if edited else {})})
    sent, faults = parse_form(groups, values)
    name = str(sent.pop("name", ""))
    hidden = await run_in_threadpool(_hidden_settings, service, edited)
    if not edited and name in service.settings.added:
        faults["name"] = f"{name} was added before: edit it, or choose another name"

    async def check(left_out: Collection[str]) -> str:
        return await run_in_threadpool(_problem_of, service, name, sent, left_out)

    problem = await find_faults(groups, values, faults, await check(faults), check)
    if not faults and not problem:
        try:
            await put_model(context, name, ModelSent.model_validate({**sent, **hidden}))
            return RedirectResponse(f"/models?{urlencode({'saved': name})}#models", HTTPStatus.SEE_OTHER)
        except InputError as error:
            problem = str(error)
    if "api_key_env" in faults:  # it may be a key, which must not appear on a page
        values["api_key_env"] = ()
    return await run_in_threadpool(
        lambda: _models_page(
            request, service, person, edited=edited, values=values, faults=faults, problem=service.redact(problem)
        )
    )


@router.post("/models/remove")
async def remove(context: Operating, person: Operator, name: ModelName = "") -> Response:
    """Remove an added model."""
    await delete_model(context, name)
    return RedirectResponse("/models#models", HTTPStatus.SEE_OTHER)


@router.post("/models/check")
async def check_model(request: Request, service: TheService, person: Operator, name: ModelName) -> Response:
    """Send a configured model a few small requests, as `dokimasia models --check` does, and show the results.

    Only an operator may, since the requests cost money and count against nobody's allowance.
    """
    specs = [spec for spec in chosen_models(service.settings, simulated=True) if spec.ref.name == name]
    if not specs:
        raise NotFound(f"no model {name[:80]!r} is configured")
    if name in service.checking:
        raise RequestRefused(HTTPStatus.CONFLICT, f"{name} is being checked: wait for the result")
    logger(__name__).warning("a model is checked", model=name, who=person.name)
    service.checking.add(name)
    began = time.monotonic()
    try:
        (checked,) = await check_models(specs, settings=service.settings, home=service.home)
    finally:
        service.checking.discard(name)
    seconds = time.monotonic() - began
    return await run_in_threadpool(lambda: _models_page(request, service, person, checked=checked, seconds=seconds))


def _hidden_settings(service: Service, edited: str) -> JsonObject:
    """Return the settings of an edited model that the form does not show."""
    table = added_table(service.settings, edited) if edited else {}
    return {name: value for name, value in table.items() if name == "sampling"}


def _problem_of(service: Service, name: str, sent: Mapping[str, JsonValue], left_out: Collection[str]) -> str:
    """Return the fault of a model's settings without some of them, with its field if known; else empty."""
    rest = {field: value for field, value in sent.items() if field not in left_out}
    checked_name = "name" if "name" in left_out else name
    try:
        table = validate_json(ModelSent, {"model": "sim/strong", **rest}).as_table()
        check_new_model(service.settings, checked_name, table)
    except ConfigError as problem:
        fault = str(problem).removeprefix(f"{service.settings.added_path}, [models.{checked_name}]: ")
        field = field_of_fault(fault, ("name", *ModelSent.model_fields))
        return f"{field}: {fault.removeprefix(f'{field}: ')}".removeprefix(": ")
    except InputError as problem:
        return str(problem)
    return ""


def _unset_keys(models: Sequence[ModelListed], checked: ModelCheck | None) -> Iterator[KeyListed]:
    """Yield the variable of a checked model's key if it is not set, in which case nothing was asked."""
    for model in models:
        if checked and model.name == checked.name and isinstance(model.key, KeyListed) and not model.key.present:
            yield model.key


def _models_page(
    request: Request,
    service: Service,
    person: Caller,
    *,
    edited: str = "",
    values: Mapping[str, tuple[str, ...]] | None = None,
    faults: Mapping[str, str] | None = None,
    problem: str = "",
    saved: str = "",
    checked: ModelCheck | None = None,
    seconds: float = 0.0,
) -> Response:
    """Return the page of models, with the result of a check, or with the submitted form and its faults."""
    specs = chosen_models(service.settings, simulated=True)
    models_listed = list_models(service.settings, specs)
    return page(
        request,
        "models.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults or problem else HTTPStatus.OK,
        reached=[model for model in models_listed if model.about is None or model.added],
        simulated=[model for model in models_listed if model.about is not None and not model.added],
        models_only=service.allowances.models_only,
        file=service.settings.added_path,
        may_change="operate" in person.scopes,
        groups=model_groups(named=not edited),
        values=values or {},
        faults=faults or {},
        problem=problem,
        edited=edited,
        keeps_sampling=bool(_hidden_settings(service, edited)),
        data_root=False,
        saved=saved if saved in service.settings.added else "",
        unset=next((key.variable for key in _unset_keys(models_listed, checked)), ""),
        added=service.settings.added,
        checked=None if checked is None else redact_texts(checked, service.redact),
        seconds=seconds,
    )
