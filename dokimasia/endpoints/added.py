"""Models added to a home, checked like those of dokimasia.toml and stored in the home's models.toml."""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping

from dokimasia.domain.identity import JsonObject
from dokimasia.endpoints.models import list_models
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.gateway.litellm.transport import provider_problem
from dokimasia.gateway.routes import DEFAULT_TRANSPORT
from dokimasia.runs.plans import WAY
from dokimasia.settings import CONFIG_NAME, Settings, check_model_name, read_added_models, with_added_models
from dokimasia.storage.home import Home
from dokimasia.storage.lock import write_private
from dokimasia.storage.runs import AT_WORK, list_runs

HEADER = """\
# Models that were added to this home, by the page Models, `dokimasia models NAME --set` or the API. A model of the
# same name in dokimasia.toml takes precedence. Keys are never here, only the names of their environment variables.
"""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A TOML key that needs no quotes."""


def added_table(settings: Settings, name: str) -> JsonObject:
    """Return the table of an added model, in the form of dokimasia.toml.

    Raises:
        NotFound: no model of this name was added.
    """
    table = read_added_models(settings).get(name)
    if table is None or name not in settings.added:
        raise NotFound(f"no model {name[:80]!r} was added to this home{_hint(settings, name)}")
    return table


def settings_with(settings: Settings, name: str, table: JsonObject) -> Settings:
    """Return the settings with a model added or replaced; nothing is written.

    Raises:
        ConfigError: the name is taken, or the table has an unknown key or an invalid value.
    """
    check_model_name(name, "name")
    if name in settings.models and name not in settings.added:
        raise ConfigError(
            f"name: {name!r} is a model of {settings.file_of(name)}: edit it there, or choose another name"
        )
    try:
        _toml({name: table}).encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{name!r}: the name or a value has characters that no file can hold") from None
    return with_added_models(settings, {**read_added_models(settings), name: table})


def check_new_model(settings: Settings, name: str, table: JsonObject) -> None:
    """Check that a model can be added and called by a transport; sends nothing, but may load LiteLLM.

    Raises:
        ConfigError: the name is taken, the table has an unknown key or an invalid value, no such transport exists, or
            LiteLLM knows no provider of the model.
    """
    if re.search(r"\s", str(table.get("endpoint", ""))):
        raise ConfigError("endpoint: write a name without spaces, or an address such as http://127.0.0.1:8000/v1")
    (model,) = list_models(settings, [settings_with(settings, name, table).models[name]])
    if model.problem:
        raise ConfigError(f"transport: {model.problem.partition(': ')[2]}")
    if model.transport == DEFAULT_TRANSPORT and (problem := provider_problem(model.model, model.api_base)):
        raise ConfigError(f"model: {problem}")


def add_model(home: Home, settings: Settings, name: str, table: JsonObject) -> Settings:
    """Add a model to the home, or replace an added model, and return the new settings.

    Args:
        home: open for writing.
        settings: the current settings.
        name: the model's name; a name from dokimasia.toml is refused.
        table: the model's settings, as in a table `[models.NAME]` of dokimasia.toml.

    Raises:
        ConfigError: the name is taken, a value is invalid, or the file cannot be written.
        InputError: a queued, running or waiting run uses the model.
    """
    new_settings = settings_with(settings, name, table)
    if name in settings.added:
        _require_unused(home, name, "changed")
    _write(settings, {**read_added_models(settings), name: table})
    return new_settings


def remove_model(home: Home, settings: Settings, name: str) -> Settings:
    """Remove an added model from the home, and return the new settings.

    Raises:
        NotFound: no model of this name was added.
        ConfigError: the file cannot be written.
        InputError: a queued, running or waiting run uses the model.
    """
    added_table(settings, name)
    _require_unused(home, name, "removed")
    tables = {other: table for other, table in read_added_models(settings).items() if other != name}
    _write(settings, tables)
    return with_added_models(settings, tables)


def field_of_fault(fault: str, fields: Iterable[str]) -> str:
    """Return the field that a message about a model's settings names first; empty if it names none."""
    places = {field: match.start() for field in fields if (match := re.search(rf"\b{re.escape(field)}\b", fault))}
    return min(places, key=lambda field: places[field], default="")


def _hint(settings: Settings, name: str) -> str:
    if name in settings.models:
        return f": {settings.file_of(name)} configures it; edit that file"
    return f"; added are: {', '.join(sorted(settings.added)) or 'none'}"


def _require_unused(home: Home, name: str, verb: str) -> None:
    unfinished = {*AT_WORK, "waiting"}
    for run in list_runs(home):
        names = {part for model in run.model_names for part in (model, model.rpartition(WAY)[0])}
        if run.status in unfinished and name in names:
            raise InputError(
                f"{name!r} cannot be {verb} while run {run.id} ({run.status}) asks it: cancel the run, or wait for it"
            )


def toml_table(name: str, table: JsonObject) -> str:
    """Return the table of a model in the form of dokimasia.toml.

    Raises:
        ConfigError: it contains a null, or a number that is not finite.
    """
    title = name if _BARE.fullmatch(name) else _toml(name)
    return "\n".join([f"[models.{title}]", *(f"{key} = {_toml(value)}" for key, value in table.items()), ""])


def _write(settings: Settings, tables: Mapping[str, JsonObject]) -> None:
    text = "\n".join([HEADER, *(toml_table(name, table) for name, table in tables.items())])
    path = settings.added_path
    assert tomllib.loads(text).get("models", {}) == tables, f"{path} would not hold what was added"
    try:
        write_private(path, text)
    except OSError as problem:
        raise ConfigError(f"{path} cannot be written: {problem.strerror or problem}") from None


def _toml(value: object) -> str:
    """Return a JSON value as TOML.

    Raises:
        ConfigError: it contains a null, or a number that is not finite.
    """
    if value is None:
        raise ConfigError(f"a value is null, which {CONFIG_NAME} cannot hold: leave its key out")
    if isinstance(value, Mapping):
        members = [f"{_toml(str(key))} = {_toml(member)}" for key, member in value.items()]
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError("a value is not a finite number")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
