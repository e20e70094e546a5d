"""A request as the ledger stores it: JSON with references, and the texts they refer to."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.domain.call import ModelCall, canonical_request
from dokimasia.domain.identity import canonical_json
from dokimasia.storage.content.envelope import fold

RECENT_TEXTS = 4096
"""Number of hashes of committed texts to remember, so that a text shared by many calls is not written with each."""


class Folded(NamedTuple):
    """A folded request: its JSON, and its texts by hash, plain or packed."""

    request: str
    texts: Mapping[str, str | bytes]


class KnownTexts:
    """The hashes of recently committed texts."""

    def __init__(self) -> None:
        self._recent: dict[str, None] = {}

    def new(self, texts: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
        """Return the texts that may not be stored yet."""
        return {name: text for name, text in texts.items() if name not in self._recent}

    def keep(self, names: Iterable[str]) -> None:
        """Remember texts as committed."""
        self._recent.update(dict.fromkeys(names))
        while len(self._recent) > RECENT_TEXTS:
            self._recent.pop(next(iter(self._recent)))


def folded(call: ModelCall) -> Folded:
    """Return a call's request in its stored form."""
    texts: dict[str, str] = {}
    request = fold(canonical_request(call), texts)
    return Folded(canonical_json(request).decode(), texts)
