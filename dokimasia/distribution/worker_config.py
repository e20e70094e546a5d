"""A worker's configuration for a run, and sealed keys."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.ports import Transport
from dokimasia.errors import ConfigError
from dokimasia.graphs.drive import GraphFile
from dokimasia.prompts import PromptLibrary

if TYPE_CHECKING:
    from nacl.public import PrivateKey

TransportFactory = Callable[[Mapping[str, ModelSpec], PromptLibrary | None], dict[str, Transport]]
"""Creates the transports to models."""

PATIENCE = 60.0
"""Seconds of silence after which a worker counts as dead."""


@dataclass(frozen=True)
class WorkerConfig:
    """A worker's configuration for a run.

    Attributes:
        library: the prompts.
        specs: the models' configurations, by name.
        driver_models: the models that the driver calls itself: people, and those with a transport passed by a program.
        watched: whether steps of graphs are reported.
        opening: creates the transports; a function that exists in every version of the package.
        patience: seconds of silence after which a worker counts as dead.
    """

    library: PromptLibrary
    specs: Mapping[str, ModelSpec]
    driver_models: frozenset[str]
    watched: bool
    opening: TransportFactory
    patience: float = field(default_factory=lambda: PATIENCE)


class GraphTask(NamedTuple):
    """An item for a worker to execute a graph on.

    `graph` is the graph, or the name of its module. `options` is the number under which the worker received its
    options. `open` states whether the worker returns the failures of open requests.
    """

    graph: GraphFile | str
    inputs: Mapping[str, object]
    item: str
    thread: str
    options: int
    seed: int
    attempt: int
    open: bool


class Handshake(NamedTuple):
    """A worker's identity: its version, process and machine."""

    version: str
    pid: int
    machine: str


def key_pair() -> "PrivateKey":
    """Return a key pair for one message.

    Raises:
        ConfigError: PyNaCl is not installed.
    """
    return _nacl().PrivateKey.generate()


def seal(keys: Mapping[str, str], public: bytes) -> bytes:
    """Return keys sealed with a worker's public key.

    Raises:
        ConfigError: PyNaCl is not installed.
    """
    nacl = _nacl()
    return nacl.SealedBox(nacl.PublicKey(public)).encrypt(json.dumps(dict(keys)).encode())


def unseal(box: bytes, pair: "PrivateKey | None") -> dict[str, str]:
    """Return keys that were sealed with the pair's public key.

    Raises:
        ConfigError: they were sealed with another key, or altered.
    """
    from nacl.exceptions import CryptoError

    try:
        return json.loads(_nacl().SealedBox(pair).decrypt(box))
    except CryptoError:
        raise ConfigError(
            "the keys that a worker was sent are not those that left: another message for another worker"
        ) from None


def _nacl() -> ModuleType:
    try:
        from nacl import public
    except ImportError as error:
        raise ConfigError(
            "to send keys to workers takes PyNaCl: install it with `pip install 'dokimasia[ray]'`"
        ) from error
    return public
