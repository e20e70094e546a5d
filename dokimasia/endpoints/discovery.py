"""Discovery of local model servers: vLLM, Ollama, llama.cpp and LM Studio, distinguished by their replies."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, JsonValue

from dokimasia.domain.identity import JsonObject
from dokimasia.endpoints.added import toml_table
from dokimasia.errors import ConfigError
from dokimasia.gateway.connections import Connections, ask_json
from dokimasia.log import Redactor

ServerKind = Literal["vLLM", "Ollama", "llama.cpp", "LM Studio", "OpenAI format"]

LOOPBACK = tuple(f"http://127.0.0.1:{port}" for port in (8000, 11434, 8080, 9931, 1234))
"""The default addresses of the servers: vLLM, Ollama, llama.cpp (earlier and later versions) and LM Studio."""

SECONDS = 3.0
"""The timeout of one reply, in seconds."""

SERVER_SECONDS = 30.0
"""The timeout of all replies of a server, in seconds."""

LONGEST_NAME = 300
"""The maximum length of a model's name, in characters."""

MOST_BYTES = 4 << 20
"""The maximum number of bytes read of a reply."""

MOST_MODELS = 200
"""The maximum number of listed models of a server."""

PREFIXES: Mapping[ServerKind, str] = {
    "vLLM": "hosted_vllm",
    "Ollama": "ollama",
    "llama.cpp": "llama_cpp",
    "LM Studio": "lm_studio",
    "OpenAI format": "openai",
}
"""The first part of a model's LiteLLM name, by server."""


class DiscoveredModel(BaseModel):
    """A model that a server offers, with what the server says of it."""

    name: str = Field(
        description="its name in the configuration: the server's name for it, in small letters and dashes"
    )
    model: str = Field(description="its LiteLLM name")
    server: ServerKind
    api_base: str
    vision: bool | None = Field(description="whether it sees images; null where the server does not say")
    tools: bool | None = Field(description="whether it calls tools; null where the server does not say")
    context: int | None = Field(description="tokens of its context; null where the server does not say")

    @property
    def lines(self) -> str:
        """The model's table for dokimasia.toml."""
        table: JsonObject = {"model": self.model, "api_base": self.api_base}
        if capabilities := [name for name, has in (("vision", self.vision), ("tools", self.tools)) if has]:
            table["capabilities"] = capabilities
        return toml_table(self.name, table)


class Discovery(BaseModel):
    """The models of the servers that answered, and the addresses at which none did."""

    models: list[DiscoveredModel]
    silent: list[str] = Field(description="addresses at which no known server answered")


async def discover(
    addresses: Sequence[str] = (), *, taken: Collection[str] = (), seconds: float = SECONDS
) -> Discovery:
    """Return the models of local servers.

    Nothing is generated or loaded: the servers are only asked for their lists.

    Args:
        addresses: addresses of servers, such as `http://127.0.0.1:8000`; by default the usual ports of this machine.
        taken: configured names, which are not given to other models.
        seconds: the timeout of one reply.

    Raises:
        ConfigError: an address is invalid.
    """
    bases = list(dict.fromkeys(map(_base, addresses or LOOPBACK)))
    connections = Connections()
    try:
        lists = await asyncio.gather(*(_Server(connections, base, seconds).models() for base in bases))
    finally:
        await connections.aclose()
    names = {*taken}
    models: list[DiscoveredModel] = []
    for offered in lists:
        for model in offered:
            models.append(model.model_copy(update={"name": _unused_name(model.name, names)}))
            names.add(models[-1].name)
    return Discovery(models=models, silent=[base for base, offered in zip(bases, lists, strict=True) if not offered])


class _Server:
    """A server at an address."""

    def __init__(self, connections: Connections, base: str, seconds: float) -> None:
        self._connections = connections
        self._base = base
        self._seconds = seconds

    async def models(self) -> list[DiscoveredModel]:
        """Return the models of the server; none if it is not a known server."""
        try:
            async with asyncio.timeout(SERVER_SECONDS):
                for models_of in (self._ollama, self._lm_studio, self._llama_cpp, self._openai):
                    if models := await models_of():
                        return models
        except TimeoutError:
            return []
        return []

    async def _ask(self, path: str, body: JsonObject | None = None) -> Mapping[str, JsonValue]:
        """Return the object in the server's reply; an empty one for anything else."""
        reply = await ask_json(
            self._connections, f"{self._base}{path}", body=body, seconds=self._seconds, most=MOST_BYTES
        )
        if isinstance(reply, dict):
            return reply
        return {}

    async def _ollama(self) -> list[DiscoveredModel]:
        names = _by_name(_entries(await self._ask("/api/tags"), "models"), "name")
        return [await self._ollama_model(name) for name in names]

    async def _ollama_model(self, name: str) -> DiscoveredModel:
        description = await self._ask("/api/show", {"model": name})
        capabilities = description.get("capabilities")
        vision = tools = None
        if isinstance(capabilities, list):
            vision, tools = "vision" in capabilities, "tools" in capabilities
        lengths = (
            value for key, value in _object(description, "model_info").items() if key.endswith(".context_length")
        )
        return self._model(name, "Ollama", vision=vision, tools=tools, context=next(lengths, None))

    async def _lm_studio(self) -> list[DiscoveredModel]:
        models: list[DiscoveredModel] = []
        for key, entry in _by_name(_entries(await self._ask("/api/v1/models"), "models"), "key").items():
            if entry.get("type") == "embedding":
                continue
            capabilities = _object(entry, "capabilities")
            loaded = [_object(instance, "config") for instance in _entries(entry, "loaded_instances")]
            contexts = [config["context_length"] for config in loaded if "context_length" in config]
            context = contexts[0] if contexts else entry.get("max_context_length")
            vision, tools = capabilities.get("vision"), capabilities.get("trained_for_tool_use")
            models.append(self._model(key, "LM Studio", vision=vision, tools=tools, context=context))
        return models

    async def _llama_cpp(self) -> list[DiscoveredModel]:
        props = await self._ask("/props")
        if "default_generation_settings" not in props:
            return []
        vision = _object(props, "modalities").get("vision")
        context = _object(props, "default_generation_settings").get("n_ctx")
        names = _by_name(_entries(await self._ask("/v1/models"), "data"), "id")
        return [self._model(name, "llama.cpp", vision=vision, context=context) for name in names]

    async def _openai(self) -> list[DiscoveredModel]:
        entries = _by_name(_entries(await self._ask("/v1/models"), "data"), "id")
        kind: ServerKind = "OpenAI format"
        if entries and all(entry.get("owned_by") == "vllm" or "max_model_len" in entry for entry in entries.values()):
            version = (await self._ask("/version")).get("version")
            kind = "vLLM" if isinstance(version, str) else kind
        return [self._model(name, kind, context=entry.get("max_model_len")) for name, entry in entries.items()]

    def _model(
        self, name: str, server: ServerKind, *, vision: object = None, tools: object = None, context: object = None
    ) -> DiscoveredModel:
        return DiscoveredModel(
            name=_slug(name),
            model=f"{PREFIXES[server]}/{name}",
            server=server,
            api_base=f"{self._base}/v1",
            vision=vision if isinstance(vision, bool) else None,
            tools=tools if isinstance(tools, bool) else None,
            context=context if isinstance(context, int) and context > 0 else None,
        )


def _entries(reply: Mapping[str, JsonValue], field: str) -> list[Mapping[str, JsonValue]]:
    """Return the objects of a list in a reply; none if there is no list."""
    values = reply.get(field)
    if isinstance(values, list):
        return [value for value in values if isinstance(value, dict)]
    return []


def _by_name(entries: Sequence[Mapping[str, JsonValue]], field: str) -> dict[str, Mapping[str, JsonValue]]:
    """Return the first entries of a list by name, without those whose name is not printable on one line."""
    by_name: dict[str, Mapping[str, JsonValue]] = {}
    for entry in entries[:MOST_MODELS]:
        name = entry.get(field)
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST_NAME:
            by_name[name] = entry
    return by_name


def _object(reply: Mapping[str, JsonValue], field: str) -> Mapping[str, JsonValue]:
    value = reply.get(field)
    return value if isinstance(value, dict) else {}


def _base(address: str) -> str:
    """Return the address of a server without a path.

    Raises:
        ConfigError: it is not an address.
    """
    wrong = ConfigError(f"{Redactor()(address)!r} is not the address of a server, such as {LOOPBACK[0]}")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # an invalid port, or an invalid host in brackets
        raise wrong from None
    plain = "@" not in parts.netloc and not parts.query and port != 0
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"


def _slug(name: str) -> str:
    """Return a name for the configuration: the last part of a model's name, in lower-case letters,
    digits and dashes.
    """
    return re.sub(r"[^a-z0-9]+", "-", name.rpartition("/")[2].lower()).strip("-")[:60] or "model"


def _unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken."""
    number, fresh = 1, name
    while fresh in taken:
        number += 1
        fresh = f"{name}-{number}"
    return fresh
