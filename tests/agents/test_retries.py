"""An item taken up anew asks only what failed: earlier attempts are gone through first, and what was good stays."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from dokimasia.agents import Ask, AskResult, ask
from dokimasia.agents.asking import draw
from dokimasia.agents.candidate import answer_question
from dokimasia.domain.call import CallResult, Chat, ChatReply, ModelCall, ModelRef, ModelSpec, call_key
from dokimasia.domain.density import FilterOptions
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed, UnparsableReply
from dokimasia.gateway.doubles import FunctionGateway, Reply, ScriptedGateway
from dokimasia.graphs import density, drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.reasking import gather_all
from dokimasia.prompts import recognise
from dokimasia.storage.memory import MemoryStore

SPEC = ModelSpec(ref=ModelRef(name="m", model="test/m"))
OPTIONS = GraphOptions(judge="m", models={"m": SPEC})
SAMPLE = Sample(id="s", prompt="How many cups?")
IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=8, height=8)
RATED = "<visual_complexity><score>8</score></visual_complexity><informativeness><score>9</score></informativeness>"
EMPTY = ChatReply(text="", finish_reason="stop")


class Remembering(FunctionGateway):
    """A gateway that answers from memory what it answered before, and counts what it had to ask."""

    def __init__(self, fn: Callable[[ModelCall], Reply]) -> None:
        super().__init__(fn)
        self.known: dict[str, CallResult] = {}
        self.sent: list[Chat] = []

    async def ask(self, call: ModelCall, *, label: str = "") -> CallResult:
        """Ask what is not known yet; a call without a reply stays unknown."""
        key = call_key(call)
        if key not in self.known:
            assert isinstance(call, Chat)
            self.sent.append(call)
            self.known[key] = await super().ask(call, label=label)
        return self.known[key]

    def take_sent(self) -> list[tuple[int, bool]]:
        """Return the draw of each call that was sent since the last time, and whether it sends a reply back."""
        sent, self.sent = self.sent, []
        return [(call.repeat, len(call.messages) > 2) for call in sent]


def number(text: str) -> int:
    """Read a number, or say that it is none."""
    if not text.isdigit():
        raise UnparsableReply("it is no number")
    return int(text)


def rating(repeat: int = 0) -> Ask[int]:
    """What asks for a number."""
    return Ask("density", {}, shown=("image",), parse=number, repeat=repeat)


def by_draw(*good: int, bad: Reply = "none") -> Remembering:
    """A gateway whose replies are of use under the draws that are named alone."""
    return Remembering(lambda call: str(call.repeat) if call.repeat in good else bad)


async def at(attempt: int, gateway: FunctionGateway, what: Ask[Any] | None = None) -> AskResult[Any]:
    """Ask in a context that was taken up anew so many times."""
    context = Context(gateway, MemoryStore(), OPTIONS).at_attempt(attempt)
    return await context.ask(what or rating())


async def test_what_was_good_is_not_asked_anew() -> None:
    """A later attempt gets the reply of the first one from the ledger."""
    gateway = by_draw(0)
    first = await at(0, gateway)
    assert gateway.take_sent() == [(0, False)]
    again = await at(3, gateway)
    assert gateway.take_sent() == []
    assert again == first


async def test_what_failed_is_drawn_anew_and_sent_back_once_again() -> None:
    """Unusable replies are replayed for nothing; the new draw is asked, and its reply sent back once if need be."""
    gateway = by_draw(draw(0, 2))
    assert (await at(0, gateway)).failure.kind == "unparsable"
    assert gateway.take_sent() == [(0, False), (0, True)]
    assert (await at(1, gateway)).failure.kind == "unparsable"
    assert gateway.take_sent() == [(draw(0, 1), False), (draw(0, 1), True)]
    asked = await at(2, gateway)
    assert gateway.take_sent() == [(draw(0, 2), False)]
    assert asked.value == draw(0, 2)
    assert (asked.asks, len(asked.calls)) == (5, 5)
    assert asked.calls == [call_key(call) for call in gateway.calls]
    assert asked.sent_back is None
    assert (await at(5, gateway)).value == draw(0, 2)
    assert gateway.take_sent() == []


async def test_the_first_good_attempt_counts_also_after_a_repair() -> None:
    """A reply that was mended by its one re-ask is good, and stays."""
    gateway = Remembering(lambda call: "7" if isinstance(call, Chat) and len(call.messages) > 2 else "seven")
    first = await at(0, gateway)
    assert first.value == 7
    assert first.sent_back is not None
    assert gateway.take_sent() == [(0, False), (0, True)]
    assert await at(1, gateway) == first
    assert gateway.take_sent() == []


async def test_a_call_that_got_no_reply_is_asked_under_its_own_draw() -> None:
    """What failed on its way has no outcome to keep: it is asked where it was to be asked, and then further on."""
    replies: list[Reply] = [CallFailed("api_error", "gone"), "4"]
    gateway = Remembering(lambda call: replies.pop(0))
    assert (await at(0, gateway)).failure.kind == "api_error"
    assert (await at(1, gateway)).value == 4
    assert gateway.take_sent() == [(0, False), (0, False)]
    lasting = by_draw(draw(0, 1), bad=CallFailed("api_error", "gone"))
    asked = await at(1, lasting)
    assert (asked.value, len(asked.calls), asked.asks) == (draw(0, 1), 1, 2)


async def test_a_budget_that_is_used_up_ends_it() -> None:
    """Nothing is drawn anew where nothing may be paid for."""
    gateway = ScriptedGateway([CallFailed("budget", "all spent")])
    assert (await at(4, gateway)).failure.kind == "budget"
    gateway.assert_used_up()


async def test_an_attempt_that_is_named_is_asked_alone() -> None:
    """A graph whose step failed for another reason than a bad reply asks under the attempt that it names."""
    gateway = by_draw(0, draw(2, 3))
    context = Context(gateway, MemoryStore(), OPTIONS).at_attempt(9)
    asked = await context.ask(rating(2), attempt=3)
    assert asked.value == draw(2, 3)
    assert gateway.take_sent() == [(draw(2, 3), False)]


async def test_repeats_keep_apart() -> None:
    """The attempts of one repeat never meet those of another."""
    gateway = by_draw(*(draw(repeat, 1) for repeat in range(5)))
    context = Context(gateway, MemoryStore(), OPTIONS).at_attempt(1)
    asked = await gather_all(context.ask(rating(repeat)) for repeat in range(5))
    assert [one.value for one in asked] == [draw(repeat, 1) for repeat in range(5)]


@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "Three cups, I th"])
async def test_an_answer_that_is_there_is_kept(text: str) -> None:
    """A refused or a cut answer is an answer, with its flag, and no reason to ask a candidate anew."""
    cut = ChatReply(text=text, finish_reason="stop" if text.startswith("I'm") else "length")
    gateway = Remembering(lambda call: cut)
    asked = await at(2, gateway, answer_question(SAMPLE))
    assert asked.value is not None
    assert asked.value.flags == (("refused",) if text.startswith("I'm") else ("truncated",))
    assert gateway.take_sent() == [(0, False)]


@pytest.mark.parametrize(
    "bad", [EMPTY, ChatReply(text="No", finish_reason="content_filter"), CallFailed("api_error", "")]
)
async def test_no_answer_is_drawn_anew_and_never_sent_back(bad: Reply) -> None:
    """An empty or filtered answer, and none, are failures: the candidate is asked under the next draw."""
    gateway = by_draw(draw(3, 1), bad=bad)
    assert (await at(0, gateway, answer_question(SAMPLE, repeat=3))).failed is not None
    gateway.take_sent()
    asked = await at(1, gateway, answer_question(SAMPLE, repeat=3))
    assert asked.value is not None
    assert (asked.value.text, asked.value.repeat) == (str(draw(3, 1)), 3)
    assert (draw(3, 1), False) in gateway.take_sent()


async def test_a_reply_that_is_sent_back_by_hand_is_sent_back_once() -> None:
    """The reply to a re-ask that the caller makes is not sent back again."""
    gateway = ScriptedGateway(["none"])
    asked = await ask(rating(), gateway=gateway, model=SPEC, rejected=Rejected(text="?", problem="why", call=""))
    assert asked.failure.kind == "unparsable"
    gateway.assert_used_up()


async def test_an_ask_that_cannot_be_made_is_the_callers_mistake() -> None:
    """Without an attempt nothing can be asked, and without a way to read it no reply can be used."""
    with pytest.raises(ValueError, match="no attempt"):
        await ask(rating(), gateway=ScriptedGateway([]), model=SPEC, attempts=())
    unread: Ask[int] = Ask("density", {}, shown=())
    with pytest.raises(ValueError, match="neither how to parse nor to take"):
        await ask(unread, gateway=ScriptedGateway(["7"]), model=SPEC)


async def test_a_graph_taken_up_anew_asks_only_what_failed() -> None:
    """Without a line of its own a graph keeps the step that was good and asks the one that failed under a new draw."""

    def say(call: ModelCall) -> Reply:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        assert request is not None
        if request.name == "domain":
            return "<domain>natural</domain>"
        return "none" if call.repeat < draw(0, 1) else RATED

    gateway, store = Remembering(say), MemoryStore()
    graph = drive.compiled(cast("GraphFile", density))
    options = FilterOptions(judge="m", models={"m": SPEC})
    context = Context(gateway, store, options)
    inputs = {"sample": await store.put(Sample(id="s", images=(IMAGE,)))}
    failed = await drive.run(graph, inputs, context=context)
    assert (failed["failed"], len(failed["calls"])) == ("unparsable", 3)
    assert gateway.labels == ["domain", "density", "density"]
    gateway.take_sent()
    done = await drive.run(graph, inputs, context=context.at_attempt(1))
    assert not done.get("failed")
    assert gateway.take_sent() == [(draw(0, 1), False)]
    assert done["calls"][:3] == failed["calls"]
    assert len(done["calls"]) == 4


@pytest.mark.parametrize("what", [None, answer_question(SAMPLE)], ids=["judge", "candidate"])
async def test_a_refusal_names_who_refused(what: Ask[Any] | None) -> None:
    """Whoever reads of a refusal reads which model it was, a candidate or a judge."""
    filtered = Remembering(lambda call: ChatReply(text="No", finish_reason="content_filter"))
    answer = await at(0, filtered, what)
    assert answer.failed is not None
    assert (answer.failed.kind, answer.failed.reason.partition(" refused: ")[0]) == ("refused", "m")
