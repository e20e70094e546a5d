"""People as models: their replies are stored in the ledger, and their open questions wait in the queue."""

from collections.abc import Mapping
from datetime import datetime

from dokimasia.domain.call import CallResult, Chat, ChatReply, ModelSpec, Usage
from dokimasia.domain.decision import Decision
from dokimasia.domain.question import MOST_SECONDS, Aid
from dokimasia.storage.decisions import standing
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.people.questions import (
    answered_item,
    get_question,
    keep_question,
    mark_used,
    question_item,
    withdraw_others,
)


class QueuedPeople:
    """The `People` of a home for one run; `asked` has the items of all questions of this invocation."""

    def __init__(self, home: Home, run_id: str, specs: Mapping[str, ModelSpec]) -> None:
        self._home = home
        self._run = run_id
        self._ledger = SqliteLedger(home)
        self._rates = {name: spec.hourly_rate for name, spec in specs.items()}
        self.asked: set[str] = set()

    async def ask(self, key: str, call: Chat, *, label: str, aid: Aid) -> CallResult | None:
        """Return the reply from the ledger, or the person's reply after storing it there; otherwise None.

        Without a reply, the question is stored durably, unless it exists already.

        Raises:
            StorageError: stored data is damaged, or could not be written.
        """
        item = question_item(self._run, key, call, label)
        self.asked.add(item.id)
        answer = await self._ledger.get(key)
        if answer is None and (answered_id := answered_item(self._home, key)) is not None:
            decision = standing(self._home, answered_id).settled_by
            answer = None if decision is None else await self._store_reply(key, call, label, decision)
        if answer is None:
            await keep_question(self._home, item, call, aid)
        else:
            await mark_used(self._home, item.id)
        return answer

    async def withdraw_others(self) -> None:
        """Withdraw the run's questions that this invocation, now complete, did not ask."""
        await withdraw_others(self._home, self._run, self.asked)

    async def _store_reply(self, key: str, call: Chat, label: str, decision: Decision) -> CallResult:
        """Store a person's reply in the ledger, without tokens, but with its duration, author and time."""
        rate = self._rates.get(call.model.name)
        seconds = _seconds(get_question(self._home, decision.item).shown_at, decision.at)
        cost = 0.0
        if rate:
            cost = None if seconds is None else rate * seconds / 3600
        reply = ChatReply(
            text=decision.text,
            finish_reason="stop",
            usage=Usage(input_tokens=0, output_tokens=0),
            version=decision.who,
        )
        await self._ledger.commit(key, call, reply, cost=cost, label=label, latency=seconds, at=decision.at)
        return CallResult(key=key, reply=reply, cost=cost)


def _seconds(shown_at: str, answered_at: str) -> float | None:
    """Return the paid time of a reply in seconds; None if it is unknown when the question was shown."""
    if not shown_at:
        return None
    try:
        took = (datetime.fromisoformat(answered_at) - datetime.fromisoformat(shown_at)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(MOST_SECONDS, max(0.0, took))
