"""A question to a person: aids to answering it, and its stored state."""

from typing import ClassVar

from dokimasia.domain.call import Chat
from dokimasia.domain.identity import Value

MOST_SECONDS = 1800.0
"""The maximum seconds of a person's time counted for one reply, since a question left open
overnight is not worked on.
"""


class Aid(Value):
    """What goes along with a call that a person answers: the empty form of the reply, and the name of what reads it.

    `reader` is empty where the reply can only be read by the run itself.
    """

    form: str = ""
    reader: str = ""


class PendingQuestion(Value):
    """A call that waits for a person in a run, or waited.

    Attributes:
        item: the id of the item in the queue of checks.
        run: whose call it is.
        person: who is asked.
        key: the call's key in the ledger.
        call: what is asked.
        prompt: the name of the prompt, which is who asks.
        aid: what helps to answer it.
        position: its place among the questions of the run, from 0.
        asked_at: since when it waits, in UTC and ISO form, as all times here.
        shown_at: when the person was first shown it; empty before that.
        used_at: when the run took the reply up, which can not be taken back after that; empty before.
        withdrawn_at: when the run was found not to ask it any more; empty while it does.
        reply: what the person has answered; None while nothing is.
    """

    stored_as: ClassVar[str] = "Question"

    item: str
    run: str
    person: str
    key: str
    call: Chat
    prompt: str
    aid: Aid = Aid()
    position: int = 0
    asked_at: str
    shown_at: str = ""
    used_at: str = ""
    withdrawn_at: str = ""
    reply: str | None = None

    @property
    def open(self) -> bool:
        """Whether it waits for its person."""
        return self.reply is None and not self.withdrawn_at and not self.used_at
