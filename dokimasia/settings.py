"""Settings from dokimasia.toml, the home and the environment; the only module that reads the environment."""

import math
import os
import re
import secrets
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from dokimasia.chat_models import LANGCHAIN, chat_model_spec, check_chat_model, resolved_chat_model
from dokimasia.domain.call import PEOPLE, ModelRef, ModelSpec, Sampling
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError, list_faults
from dokimasia.log import Redactor, names_secret

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

V = TypeVar("V", bound=Value)

CONFIG_NAME = "dokimasia.toml"
HOME_NAME = ".dokimasia"
ADDED_NAME = "models.toml"
"""The file in a home with its added models; its tables are those of dokimasia.toml."""

_TOP_KEYS = ("home", "embedding", "worker_keys", "defaults", "models")
_WORKER_KEYS = ("environment", "sent")
_DEFAULT_KEYS = ("max_concurrency", "start_concurrency", "timeout", "rpm", "tpm")
_MODEL_KEYS = ("model", "endpoint", *(name for name in ModelSpec.model_fields if name != "ref"))
_LITERAL_KEYS = frozenset({"api_key", "apikey", "key", "token", "secret", "password", "authorization"})
_ORDINARY = frozenset({"true", "false", "none", "null", "default", "disabled", "enabled", "unused", "dummy"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[^\s,#=]+")
_PERSON = re.compile(r"[^\s,#=/]{1,80}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings from the configuration file and the environment.

    Attributes:
        home: the folder for runs, calls and images; it need not exist yet.
        config_path: the configuration file that was read, or None.
        models: configured models by name.
        added: the names of models configured by the home's models.toml.
        defaults: the limits of models that are not configured (`max_concurrency`, `start_concurrency`,
            `timeout`, `rpm`, `tpm`).
        secrets: values that no log, error or file may show.
        worker_keys: the source of workers' keys: their own `environment`, or `sent` by the driver.
        embedding: the name of the model that embeds texts for searches by meaning; empty if there is none.
        server: the address of the service that commands use; empty if this process does the work itself.
        server_token: the token for the service.
        chat_models: LangChain chat models called by this process, by name (see `with_chat_models`).
    """

    home: Path
    config_path: Path | None = None
    models: Mapping[str, ModelSpec] = field(default_factory=dict)
    added: frozenset[str] = frozenset()
    defaults: Mapping[str, int | float] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    worker_keys: str = "environment"
    embedding: str = ""
    server: str = ""
    server_token: str = field(default="", repr=False)
    chat_models: Mapping[str, "BaseChatModel"] = field(default_factory=dict, repr=False)

    def at(self, home: str | Path) -> "Settings":
        """Return the settings with another home folder, and that home's added models.

        Raises:
            ConfigError: the file of those models cannot be used.
        """
        moved = replace(self, home=Path(home).expanduser().absolute())
        if moved.home == self.home:
            return moved
        return with_added_models(moved, read_added_models(moved))

    @property
    def added_path(self) -> Path:
        """The file with the home's added models; it need not exist."""
        return self.home / ADDED_NAME

    def file_of(self, name: str) -> Path | str:
        """Return the file that configures a model."""
        if name in self.added:
            return self.added_path
        return self.config_path or CONFIG_NAME

    def with_chat_models(self, chat_models: "Mapping[str, BaseChatModel] | None") -> "Settings":
        """Return the settings with LangChain chat models as further models.

        A configured model of the same name provides limits, prices and sampling.

        Args:
            chat_models: chat models by their names in requests, such as `{"mine": ChatOpenAI(...)}`.

        Raises:
            ConfigError: a name is invalid, an object is not a chat model, or two objects are the same model to the
                ledger.
        """
        if not chat_models:
            return self
        models = dict(self.models)
        for name, model in chat_models.items():
            check_model_name(name, f"chat_models: {name!r}")
            check_chat_model(f"chat_models: {name!r}", model)
            place = f"chat_models: {name!r}"
            configured = self.models.get(name) or _spec(
                {"ref": ModelRef(name=name, model=name), **self.defaults}, place
            )
            models[name] = chat_model_spec(model, configured, name)
            for other, twin in chat_models.items():
                if other != name and twin is not model and other in models and _same(models[other], models[name]):
                    raise ConfigError(
                        f"chat_models: {other!r} and {name!r} cannot be told apart by the ledger, since their types "
                        "and parameters are equal: give each a name of its own, such as ChatModel(..., name='second')"
                    )
        return replace(self, models=models, chat_models={**self.chat_models, **chat_models})


def _same(first: ModelSpec, second: ModelSpec) -> bool:
    """Return whether two models are the same to the ledger."""
    return (first.ref.model, first.ref.endpoint) == (second.ref.model, second.ref.endpoint)


def load_settings(
    *,
    config: str | Path | None = None,
    home: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
) -> Settings:
    """Return the settings from the configuration file, the models added to the home, and the environment.

    Args:
        config: the configuration file; by default `dokimasia.toml` in the working folder, if it exists.
        home: the home folder; by default `DOKIMASIA_HOME`, then `home` in the configuration, then `.dokimasia`.
        env: the environment; by default the process's own.
        cwd: the working folder; by default the process's own.

    Raises:
        ConfigError: a file is missing, is not TOML, or has an invalid value; the message names file and key.
    """
    env = os.environ if env is None else env
    cwd = Path(cwd or Path.cwd())
    path = cwd / (config or CONFIG_NAME)
    if config is None and not path.is_file():
        path = None
    content = _read_toml(path) if path else {}
    where = str(path)
    _known_keys(content, _TOP_KEYS, where)
    defaults = _defaults(_table(content, "defaults", where), where)
    models = {
        name: _model(name, _table(_table(content, "models", where), name, f"{where}, [models]"), defaults, where)
        for name in _table(content, "models", where)
    }
    keys, hidden = _keys(env, {spec.api_key_env for spec in models.values() if spec.api_key_env})
    settings = Settings(
        home=_home(home, env.get("DOKIMASIA_HOME"), content.get("home"), cwd, path),
        config_path=path,
        models=models,
        defaults=defaults,
        secrets=hidden,
        keys=keys,
        worker_keys=_worker_keys(content, where),
        embedding=_optional_text(content, "embedding", where) or "",
        server=env.get("DOKIMASIA_SERVER", "").strip(),
        server_token=env.get("DOKIMASIA_SERVER_TOKEN", "").strip(),
    )
    return with_added_models(settings, read_added_models(settings), env=env)


def read_added_models(settings: Settings) -> dict[str, JsonObject]:
    """Return the tables of the home's added models, by name; empty without a file.

    Raises:
        ConfigError: the file cannot be read, or is not TOML.
    """
    path = settings.added_path
    if not os.path.isfile(path):  # an unreadable home is not refused because of this file
        return {}
    content = _read_toml(path)
    _known_keys(content, ("models",), str(path))
    tables = _table(content, "models", str(path))
    return {name: _table(tables, name, f"{path}, [models]") for name in tables}


def with_added_models(
    settings: Settings, tables: Mapping[str, JsonObject], *, env: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings with these models replacing earlier added ones.

    A model of dokimasia.toml takes precedence over an added one of the same name.

    Args:
        settings: the settings.
        tables: a table for each model by its name, as in dokimasia.toml.
        env: the environment; by default the process's own.

    Raises:
        ConfigError: a table has an unknown key or an invalid value; the message names model and key.
    """
    configured = {name: spec for name, spec in settings.models.items() if name not in settings.added}
    where = str(settings.added_path)
    added = {
        name: _model(name, table, settings.defaults, where) for name, table in tables.items() if name not in configured
    }
    variables = {spec.api_key_env for spec in added.values() if spec.api_key_env}
    keys, hidden = _keys(os.environ if env is None else env, variables)
    return replace(
        settings,
        models={**configured, **added},
        added=frozenset(added),
        keys={**settings.keys, **keys},
        secrets=tuple(sorted({*settings.secrets, *hidden})),
    )


def worker_keys(
    specs: Mapping[str, ModelSpec], sent: Mapping[str, str] | None = None
) -> tuple[dict[str, str], tuple[str, ...], list[str]]:
    """Return a worker's API keys by model, the values to hide in logs, and the variables missing in its environment."""
    variables = {spec.api_key_env for spec in specs.values() if spec.api_key_env}
    keys, hidden = _keys(os.environ, variables)
    if sent is not None:
        return dict(sent), tuple({*hidden, *sent.values()}), []
    present = {name: value.strip() for name, value in keys.items() if value.strip()}
    by_model = {name: present[spec.api_key_env] for name, spec in specs.items() if spec.api_key_env in present}
    return by_model, hidden, sorted(variables - set(present))


def prepare_ray() -> None:
    """Disable Ray's usage statistics, and protect a Ray started by this process with a token.

    If a program has already imported Ray, Ray has read its environment, and access is left to the program.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def _keys(env: Mapping[str, str], variables: Collection[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the values of the named variables, and all values of the environment that may be secrets."""
    keys = {name: value for name, value in env.items() if name in variables or names_secret(name)}
    hidden = {value for name, value in keys.items() if _may_be_secret(value, name in variables)}
    return {name: value for name, value in keys.items() if name in variables}, tuple(sorted(hidden))


def resolve_model(settings: Settings, name: str) -> ModelSpec:
    """Return the specification of a model: a configured name, `sim/...`, `human/NAME`, `langchain/NAME`, or a LiteLLM name.

    Raises:
        ConfigError: the name is none of these; the message suggests similar configured names.
    """
    spec = settings.models.get(name)
    if spec is None and "/" in name.strip("/") and _NAME.fullmatch(name):
        spec = _spec({"ref": _ref(name, name, None, None), **settings.defaults}, f"model {name}")
    if spec is not None:
        plugged = spec.transport == "auto" and spec.ref.model.startswith(LANGCHAIN)
        if plugged:
            return resolved_chat_model(spec)
        return spec
    close = nearest(name, settings.models)
    configured = f"; configured are {', '.join(sorted(settings.models))}" if settings.models and not close else ""
    raise ConfigError(
        f"there is no model {name!r}{close or f'{configured}.'} Use a name from {CONFIG_NAME}, sim/..., human/NAME for a person, "
        "langchain/NAME for a plug-in's chat model, or a LiteLLM name such as openai/gpt-5"
    )


def api_key(settings: Settings, spec: ModelSpec) -> str | None:
    """Return the model's key, or None if the configuration names no variable (then the provider's own one is used).

    Raises:
        ConfigError: the configured variable is not set.
    """
    if spec.api_key_env is None:
        return None
    key = settings.keys.get(spec.api_key_env, "").strip()
    if not key:
        raise ConfigError(
            f"model {spec.ref.name}: the environment variable {spec.api_key_env} is not set; export it, or change "
            f"api_key_env in {settings.file_of(spec.ref.name)}"
        )
    return key


def _read_toml(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError as error:
        raise ConfigError(f"there is no configuration file {path}; dokimasia init writes one") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error


def _home(home: str | Path | None, from_env: str | None, from_file: object, cwd: Path, config: Path | None) -> Path:
    if home is not None:
        return cwd / Path(home).expanduser()
    if from_env:
        return cwd / Path(from_env).expanduser()
    if from_file is None or config is None:
        return cwd / HOME_NAME
    if not isinstance(from_file, str) or not from_file:
        raise ConfigError(f"{config}: home is not the path of a folder")
    return config.parent / Path(from_file).expanduser()


def _worker_keys(content: Mapping[str, object], where: str) -> str:
    policy = content.get("worker_keys", _WORKER_KEYS[0])
    if policy not in _WORKER_KEYS:
        raise ConfigError(f"{where}: worker_keys is not {' or '.join(map(repr, _WORKER_KEYS))}")
    return policy


def _defaults(table: dict[str, object], where: str) -> dict[str, int | float]:
    """Return the checked limits of models that are not configured."""
    place = f"{where}, [defaults]"
    _known_keys(table, _DEFAULT_KEYS, place)
    _spec({"ref": ModelRef(name="defaults", model="defaults"), **table}, place)
    return cast("dict[str, int | float]", table)


def _model(name: str, table: dict[str, object], defaults: Mapping[str, int | float], where: str) -> ModelSpec:
    place = f"{where}, [models.{name}]"
    check_model_name(name, place)
    _known_keys(table, _MODEL_KEYS, place)
    values = {key: value for key, value in table.items() if key not in ("model", "endpoint")}
    texts = ("model", "endpoint", "api_base", "api_key_env")
    model, endpoint, api_base, variable = (_optional_text(table, key, place) for key in texts)
    if model is None:
        raise ConfigError(f'{place}: the key model is missing, as in model = "openai/gpt-5"')
    if variable is not None and (not _VARIABLE.fullmatch(variable) or _looks_like_key(variable)):
        raise ConfigError(f"{place}: api_key_env is the name of an environment variable, never the key itself")
    if api_base is not None:
        _check_address("api_base", api_base, place)
    if endpoint is not None and "://" in endpoint:
        _check_address("endpoint", endpoint, place)
    values["ref"] = _ref(name, model, endpoint, api_base)
    values["sampling"] = _sampling(_table(values, "sampling", place), f"{where}, [models.{name}.sampling]")
    capabilities: object = values.pop("capabilities", [])
    if not isinstance(capabilities, list):
        raise ConfigError(f'{place}: capabilities is not a list such as ["vision"]')
    values["capabilities"] = tuple(cast("list[object]", capabilities))
    return _spec({**defaults, **values}, place)


def check_model_name(name: str, place: str) -> None:
    """Refuse a name that cannot be in a list of models.

    Raises:
        ConfigError: the message begins with `place`.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{place}: a model's name has no spaces, commas, # or =")


def _ref(name: str, model: str, endpoint: str | None, api_base: str | None) -> ModelRef:
    fallback = "sim" if model.startswith("sim/") and api_base is None else api_base or "default"
    if model.startswith(f"{PEOPLE}/"):
        return ModelRef(name=name, model=model, endpoint=PEOPLE)
    return ModelRef(name=name, model=model, endpoint=endpoint or fallback)


def _sampling(table: dict[str, object], place: str) -> Sampling:
    _known_keys(table, Sampling.model_fields, place, "; what only the provider knows goes into [....sampling.extra]")
    extra = _table(table, "extra", place)
    _refuse_literal_keys(extra, f"{place}, extra")
    for part in _objects_within(extra):
        # Below the top, members of a JSON schema have any name, and are not texts; a `key` alone may be anything.
        texts = {name for name, value in part.items() if isinstance(value, str)}
        _refuse_literal_keys(texts - {"key"}, f"{place}, extra")
    return _validated(Sampling, table, place)


def _spec(values: dict[str, object], place: str) -> ModelSpec:
    ref = cast("ModelRef", values["ref"])
    if ref.model.startswith(f"{PEOPLE}/"):
        values = {**values, **_of_person(ref, values, place)}
    elif "hourly_rate" in values:
        raise ConfigError(f"{place}: hourly_rate is of people, whose model is {PEOPLE}/NAME")
    if ref.endpoint == "sim" and ref.model.startswith("sim/") and values.get("transport", "auto") == "auto":
        values = {**values, "transport": "sim"}
    return _validated(ModelSpec, values, place)


_PRICES = ("input_price", "output_price", "cached_input_price", "cache_write_price", "image_price")
_OF_MODELS = frozenset(("api_base", "api_key_env", "transport", *_PRICES))
"""Settings that do not apply to a person in place of a model."""


def _of_person(ref: ModelRef, values: Mapping[str, object], place: str) -> dict[str, object]:
    """Return the fixed settings of a person in place of a model.

    Raises:
        ConfigError: the name is invalid, or there are settings that only models have.
    """
    if not _PERSON.fullmatch(ref.person):
        raise ConfigError(
            f"{place}: a person is called {PEOPLE}/NAME, with a NAME of at most 80 characters without spaces"
        )
    wrong = sorted(set(values) & _OF_MODELS)
    if wrong:
        raise ConfigError(
            f"{place}: {wrong[0]} is of models, and {ref.model} is a person (who may have an hourly_rate)"
        )
    return {"transport": PEOPLE, "input_price": 0.0, "output_price": 0.0, "capabilities": ("vision",)}


def _validated(type_: type[V], values: Mapping[str, object], place: str) -> V:
    for key, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{place}: {key} is not a finite number")
    try:
        return type_.model_validate(values, strict=True)
    except ValidationError as error:
        raise ConfigError(f"{place}: {list_faults(error)[0]}") from error


def _check_address(key: str, address: str, place: str) -> None:
    wrong = f"{place}: {key} is not an address such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(address)
    except ValueError:  # an invalid host in brackets
        raise ConfigError(wrong) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", address):
        raise ConfigError(wrong)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(f"{place}: {key} holds a user name, password, query or fragment; give the key by api_key_env")


def _known_keys(table: Mapping[str, object], allowed: Iterable[str], place: str, hint: str = "") -> None:
    _refuse_literal_keys(table, place)
    for key in table:
        if key not in allowed:
            raise ConfigError(f"{place}: there is no key {key}{nearest(key, allowed)}{hint}")


def _looks_like_key(variable: str) -> bool:
    """Return whether the name of a variable looks like an API key, such as `AIzaSy...`: names are not in mixed case."""
    return not variable.isupper() and not variable.islower() and Redactor()(variable) != variable


def _objects_within(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects in a JSON value, at any depth, including itself."""
    members: Iterable[object] = ()
    if isinstance(value, Mapping):
        object_ = cast("Mapping[str, object]", value)
        yield object_
        members = object_.values()
    elif isinstance(value, list | tuple):
        members = cast("Sequence[object]", value)
    for member in members:
        yield from _objects_within(member)


def _refuse_literal_keys(names: Iterable[str], place: str) -> None:
    for key in names:
        if key.lower().replace("-", "_") in _LITERAL_KEYS:
            raise ConfigError(
                f"{place}: a key does not stand in this file; export it and name the variable: "
                'api_key_env = "OPENAI_API_KEY"'
            )


def _table(parent: Mapping[str, object], key: str, place: str) -> dict[str, object]:
    value: object = parent.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: {key} is not a table")
    return cast("dict[str, object]", value)


def _optional_text(table: Mapping[str, object], key: str, place: str) -> str | None:
    value: object = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{place}: {key} is not a text, or is empty")
    return value


def _may_be_secret(value: str, is_key: bool) -> bool:
    """Return whether a value may be secret: not empty and, unless configured as a key, not a plain number or word."""
    plain = value.strip()
    return bool(plain) and (is_key or not (plain.isdigit() or plain.lower() in _ORDINARY))
