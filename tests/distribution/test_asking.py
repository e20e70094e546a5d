"""The gateway of a worker, by a line whose other side is the test."""

from typing import Any, cast

import pytest

from dokimasia.distribution.channel import Channel
from dokimasia.distribution.remote_gateway import RemoteBlobs, RemoteGateway
from dokimasia.domain.call import Chat, ChatReply, Message, ModelRef, ModelSpec
from dokimasia.domain.sample import TextPart

pytestmark = pytest.mark.quick

REF = ModelRef(name="m", model="m")
CALL = Chat(model=REF, messages=(Message(role="user", parts=(TextPart(text="Which colour?"),)),))


class Driver:
    """Answers what is asked by what is left of a list, and counts."""

    def __init__(self, *answers: tuple[float | None, bool, ChatReply | None]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def ask(self, name: str, *holds: Any) -> Any:
        """Answer."""
        self.asked += 1
        return self.answers.pop(0)


async def test_a_reply_that_came_for_somebody_who_went_away_is_asked_for_again() -> None:
    """A reply that this worker was sent for another asker of the same call, who left, comes from the ledger: never None."""
    driver = Driver((0.25, False, None), (0.25, True, ChatReply(text="blue")))
    gateway = RemoteGateway(
        cast("Channel", driver),
        cast("RemoteBlobs", None),
        specs={"m": ModelSpec(ref=REF)},
        driver_models=frozenset(),
        transports={},
        api_keys={},
        clean=str,
    )
    answer = await gateway.ask(CALL)
    assert (answer.reply, answer.cost, answer.cached) == (ChatReply(text="blue"), 0.25, True)
    assert driver.asked == 2
