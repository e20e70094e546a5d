"""Keys on their way to one worker: under a pad that is used once and that no message holds.

Both sides draw an exponent for this one message and agree on a secret by Diffie and Hellman's exchange (RFC 3526, group
14); from it come a pad as long as what is sent, and the key of an authentication code. What Ray keeps, logs or shows are
the public halves and bytes that look drawn at random. This holds against who reads; who may have a process of the cluster
run code of his own has its environment, too.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from dokimasia.errors import ConfigError

PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B"
    "302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE6"
    "49286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB9ED529077096966D"
    "670C354E4ABC9804F1746C08CA18217C32905E462E36CE3BE39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718"
    "3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
"""A safe prime of 2,048 bits."""

GENERATOR = 2
_BITS = 512
_CODE = 32


class Sealed(NamedTuple):
    """What travels: the sender's public half, and what is sent under the pad, behind its authentication code."""

    public: int
    box: bytes


class Seal:
    """One side's half of a secret; it serves for one message."""

    def __init__(self) -> None:
        self._exponent = secrets.randbits(_BITS) | 1 << (_BITS - 1)
        self.public = pow(GENERATOR, self._exponent, PRIME)

    def close(self, keys: Mapping[str, str], theirs: int) -> Sealed:
        """Return keys as they travel to the side whose public half is given."""
        said = json.dumps(dict(keys)).encode()
        code, pad = self._drawn(theirs, len(said), (self.public, theirs))
        under = _xor(said, pad)
        return Sealed(self.public, hmac.digest(code, under, "sha256") + under)

    def open(self, sealed: Sealed) -> dict[str, str]:
        """Return what was sent to this side.

        Raises:
            ConfigError: it was not sent to this process, or is not what was sent.
        """
        claimed, under = sealed.box[:_CODE], sealed.box[_CODE:]
        code, pad = self._drawn(sealed.public, len(under), (sealed.public, self.public))
        if not hmac.compare_digest(claimed, hmac.digest(code, under, "sha256")):
            raise ConfigError(
                "the keys that a worker was sent are not those that left: another message for another worker"
            )
        return json.loads(_xor(under, pad))

    def _drawn(self, theirs: int, length: int, publics: tuple[int, int]) -> tuple[bytes, bytes]:
        if not 1 < theirs < PRIME - 1:
            raise ConfigError("the other side's public half is no number of the group")
        shared = pow(theirs, self._exponent, PRIME)
        told = b"".join(number.to_bytes(256, "big") for number in (shared, *publics))
        drawn = hashlib.shake_256(told).digest(_CODE + length)
        return drawn[:_CODE], drawn[_CODE:]


def _xor(text: bytes, pad: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(text, pad, strict=True))
