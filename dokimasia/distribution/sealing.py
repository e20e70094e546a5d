"""Keys on their way to one worker: sealed for it by NaCl, so that no message, log or memory of Ray holds them.

The worker draws a key pair for one message and says the public half; what the driver seals for that only this worker opens.
This holds against who reads; who may have a process of the cluster run code of his own has its environment, too.
"""

import json
from collections.abc import Mapping
from typing import Any

from dokimasia.errors import ConfigError


def key_pair() -> Any:
    """Return a key pair (`nacl.public.PrivateKey`) for one message.

    Raises:
        ConfigError: PyNaCl is not installed.
    """
    return _nacl().PrivateKey.generate()


def seal(keys: Mapping[str, str], public: bytes) -> bytes:
    """Return keys as they travel to the worker that said a public key.

    Raises:
        ConfigError: PyNaCl is not installed.
    """
    nacl = _nacl()
    return nacl.SealedBox(nacl.PublicKey(public)).encrypt(json.dumps(dict(keys)).encode())


def opened(box: bytes, pair: Any) -> dict[str, str]:
    """Return the keys that were sealed for a pair.

    Raises:
        ConfigError: they were sealed for another, or changed on the way.
    """
    from nacl.exceptions import CryptoError

    try:
        return json.loads(_nacl().SealedBox(pair).decrypt(box))
    except CryptoError:
        raise ConfigError(
            "the keys that a worker was sent are not those that left: another message for another worker"
        ) from None


def _nacl() -> Any:
    try:
        from nacl import public
    except ImportError as error:
        raise ConfigError(
            "to send keys to workers takes PyNaCl: install it with `pip install 'dokimasia[ray]'`"
        ) from error
    return public
