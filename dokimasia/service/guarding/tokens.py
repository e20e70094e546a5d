"""Tokens with scopes: read from a file, compared in constant time, never shown."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from starlette.requests import HTTPConnection

from dokimasia.errors import ConfigError

Scope = Literal["read", "run", "review"]
"""`read` sees everything, `run` begins, stops and deletes runs and uploads data, `review` decides what waits for people."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
COOKIE = "dokimasia_token"
"""The cookie that holds a browser's token: HttpOnly, SameSite=Strict."""

SHORTEST = 16
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: a name, what they may do, and whether they say who they are, so that they may speak for others, too."""

    name: str
    scopes: frozenset[Scope]
    self_named: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a service takes; none means that whoever reaches it may do everything.

    Attributes:
        known: by the SHA-256 of each token, whose it is.
        own: the SHA-256 of the token of this user's own commands on this machine, who may do everything and say for whom.
    """

    known: Sequence[tuple[bytes, Person]] = field(default=(), repr=False)
    own: bytes = field(default=b"", repr=False)

    @property
    def needed(self) -> bool:
        """Whether a request needs a token."""
        return bool(self.known)

    def holder(self, token: str) -> Person | None:
        """Return whose token it is, None where nobody's; every known token is compared, whatever the outcome."""
        given = _hash(token)
        found: Person | None = None
        for known, person in self.known:
            if hmac.compare_digest(known, given):
                found = person
        return found

    def is_own(self, token: str) -> bool:
        """Whether a token is that of this user's own commands on this machine."""
        return hmac.compare_digest(self.own, _hash(token)) and bool(self.own)

    def and_own(self, token: str) -> "Tokens":
        """Return these tokens and one for this user's own commands on this machine."""
        return Tokens(self.known, _hash(token))


def sent_with(request: HTTPConnection) -> str:
    """Return the token that a request is sent with, in its header or its cookie; empty where there is none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else request.cookies.get(COOKIE, "")


def read_tokens(path: Path) -> Tokens:
    """Read a file of tokens: on each line a name, scopes with commas between them, and the token; `#` begins a comment.

    Raises:
        ConfigError: the file cannot be read, others may read it, or a line of it is wrong; no message holds a token.
    """
    try:
        text = path.read_text(encoding="utf-8")
        open_to = path.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"--token-file {path} cannot be read: {getattr(problem, 'strerror', 'no UTF-8 text')}"
        ) from None
    if open_to:
        raise ConfigError(f"--token-file {path}: other users of this machine may read it; run chmod 600 {path}")
    known: list[tuple[bytes, Person]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"--token-file {path}, line {number}"
        if len(words) != 3:
            raise ConfigError(f"{where}: write a name, its scopes and the token, such as: ana read,review TOKEN")
        name, scopes, token = words
        unknown = sorted(set(scopes.split(",")) - set(SCOPES))
        if unknown:
            raise ConfigError(f"{where}: there is no scope {', '.join(unknown)}; scopes are {', '.join(SCOPES)}")
        if len(token) < SHORTEST:
            raise ConfigError(f"{where}: a token has at least {SHORTEST} characters")
        if not token.isascii():
            raise ConfigError(
                f"{where}: a token has letters, digits and signs of ASCII alone, since a header carries it"
            )
        if _hash(token) in {one for one, _ in known}:
            raise ConfigError(f"{where}: the same token stands above already")
        granted = frozenset[Scope](scope for scope in SCOPES if scope == "read" or scope in scopes.split(","))
        known.append((_hash(token), Person(name, granted)))
    if not known:
        raise ConfigError(f"--token-file {path} holds no token")
    return Tokens(tuple(known))


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
