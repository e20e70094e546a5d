"""A gateway that answers only from the ledger, for estimates of a run's remaining calls."""

from collections import Counter

from dokimasia.domain.call import CallResult, Chat, ModelCall, ModelSpec, call_key
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import CallFailed, ToolFailure
from dokimasia.gateway.images import with_reduced_images
from dokimasia.storage.content.reduced import find_reduced
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger


class LedgerGateway:
    """Answers calls from the ledger of a home, which may be open for reading, and counts the calls it cannot answer.

    Attributes:
        missing: the number of calls missing from the ledger, by label and model.
    """

    def __init__(self, home: Home, specs: dict[str, ModelSpec]) -> None:
        """Answer calls to these models, by shown name."""
        self._home, self._specs = home, specs
        self._ledger = SqliteLedger(home)
        self.missing: Counter[tuple[str, str]] = Counter()

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the ledger's reply.

        Raises:
            CallFailed: of kind `budget`, if the ledger has no reply.
        """
        answer = await self._find(call)
        if answer is None:
            self.missing[label, call.model.name] += 1
            raise CallFailed("budget", "the ledger has no reply")
        return answer

    def take_missing(self) -> Counter[tuple[str, str]]:
        """Return the missing calls and reset the count."""
        missing, self.missing = self.missing, Counter()
        return missing

    async def _find(self, call: ModelCall) -> CallResult | None:
        side = self._specs[call.model.name].max_image_side
        if side is not None and isinstance(call, Chat):
            try:
                call = await with_reduced_images(call, side, self._reduced)
            except ToolFailure:
                return None
        return await self._ledger.get(call_key(call))

    async def _reduced(self, image: ImageRef, side: int) -> ImageRef:
        reduced = find_reduced(self._home, image.sha256, side)
        if reduced is None:
            raise ToolFailure("the image was never made smaller, so no call was made with it")
        return reduced


def has_calls(home: Home) -> bool:
    """Return whether the ledger contains any call."""
    return home.one("SELECT 1 FROM calls LIMIT 1", ()) is not None
