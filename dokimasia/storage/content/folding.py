"""A request as the ledger keeps it, made beside the database: JSON with references, and the texts that they stand for."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.domain.call import ModelCall, canonical_request
from dokimasia.domain.identity import canonical_json
from dokimasia.storage.content.envelope import fold

RECENT_TEXTS = 4096
"""Hashes of committed texts that are remembered, so that what many calls share is not written with each."""


class Folded(NamedTuple):
    """A request: its JSON, and its texts by their hashes, as they are or packed."""

    request: str
    texts: Mapping[str, str | bytes]


class KnownTexts:
    """Remembers which texts were committed of late."""

    def __init__(self) -> None:
        self._recent: dict[str, None] = {}

    def new(self, texts: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
        """Return the texts that are perhaps not there yet."""
        return {name: text for name, text in texts.items() if name not in self._recent}

    def keep(self, names: Iterable[str]) -> None:
        """Take in that texts are committed."""
        self._recent.update(dict.fromkeys(names))
        while len(self._recent) > RECENT_TEXTS:
            self._recent.pop(next(iter(self._recent)))


def folded(call: ModelCall) -> Folded:
    """Return a call's request as it is kept."""
    texts: dict[str, str | bytes] = {}
    request = fold(canonical_request(call), texts)
    return Folded(canonical_json(request).decode(), texts)
