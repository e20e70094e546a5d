"""What failed is asked anew from the step that failed, as a new draw; the old outcome stays on record."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from dokimasia.agents.asking import RETRY_STRIDE, draw
from dokimasia.domain.call import Chat
from dokimasia.errors import InputError, Interrupted
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.prompts import recognise
from dokimasia.runs import work as work_module
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.outcome import RETRYABLE, retryable
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import LASTING_FAULTS, spoil, transport_error
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, events, results
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import get_run
from dokimasia.storage.spending import spent_by

Requests = Callable[..., EvaluationRequest]
SAMPLES = 5
HEDGED = "as far as can be told: "


class Faulty(CountingTransport):
    """Simulated models with one fault in every reply to one prompt, in attempts below `until`, that may stop a run."""

    def __init__(
        self, prompt: str = "", fault: str = "", *, until: int = 1, stop: Stop | None = None, after: int | None = None
    ) -> None:
        def planted(call: Any) -> bool:
            return recognised(call) == prompt and call.repeat < until * RETRY_STRIDE

        def fail(call: Any) -> BaseException | None:
            return transport_error(fault) if planted(call) and fault in LASTING_FAULTS else None

        def change(call: Any, reply: Any) -> Any:
            if planted(call) and fault == "contradict":
                head, _, _ = reply.text.partition("<answer>")
                return reply.model_copy(update={"text": f"{head}<answer>\n-987654321\n</answer>"})
            return self.worded(call, spoil(reply, call, fault) if planted(call) else reply)

        asked = None if stop is None else stop.ask
        super().__init__(SimTransport(), stop=asked, stop_after=after, fail=fail, change=change)

    def worded(self, call: Chat, reply: Any) -> Any:
        """Leave the words of a reply as they are."""
        return reply

    @property
    def asked(self) -> list[str]:
        """The prompts of what was sent, sorted, without the simulated models' repairs."""
        return sorted({recognised(call) for call in self.chats})

    @property
    def chats(self) -> list[Chat]:
        """What was sent."""
        return [call for call in self.sent if isinstance(call, Chat)]


class Wordy(Faulty):
    """A judge whose chains end in an answer that no rule can compare with the reference, so that a judge must say."""

    def worded(self, call: Chat, reply: Any) -> Any:
        """Wrap the answer of every chain in words."""
        if recognised(call) != "solver":
            return reply
        return reply.model_copy(update={"text": reply.text.replace("<answer>\n", f"<answer>\n{HEDGED}")})


class Circling(Faulty):
    """Candidates whose final answers no rule can compare with the reference, so that a judge must say who is right."""

    def worded(self, call: Chat, reply: Any) -> Any:
        """Wrap every final answer in words."""
        if recognised(call) != "candidate":
            return reply
        return reply.model_copy(update={"text": reply.text.replace("Final answer: ", f"Final answer: {HEDGED}")})


def recognised(call: Chat) -> str:
    """The name of the prompt that a call was rendered from; a repair bears the name of what it repairs."""
    found = recognise(call.messages[:2])
    assert found is not None
    return found.name


async def failing(
    settings: Settings, request: EvaluationRequest, transport: Faulty
) -> tuple[RunResult, list[ResultRow]]:
    result = await evaluate(request, settings=settings, transports={"sim": transport})
    with Home.open(settings.home, write=False) as home:
        return result, results(home, result.run)


def so_many_more(settings: Settings, run: str, calls: int) -> dict[str, int]:
    """A limit that leaves a run so many calls more than it has sent."""
    with Home.open(settings.home, write=False) as home:
        return {"max_calls": spent_by(home, run).calls + calls}


async def retried(
    settings: Settings,
    run: str,
    transport: Faulty,
    *,
    kinds: Iterable[Any] = RETRYABLE,
    stop: Stop | None = None,
    changes: Mapping[str, Any] | None = None,
) -> tuple[RunResult, list[ResultRow]]:
    with Home.open(settings.home, write=False) as home:
        found = get_run(home, run)
    result = await resume(
        found, settings=settings, changes=changes, transports={"sim": transport}, retry=tuple(kinds), stop=stop
    )
    with Home.open(settings.home, write=False) as home:
        return result, results(home, run)


REPLAY_FAULTS = [
    ("solver", "refusal", "refused"),
    ("solver", "truncated", "truncated"),
    ("solver", "contradict", "reference_contradicted"),
    ("criteria", "malformed", "unparsable"),
    ("criteria", "unauthorized", "api_error"),
    ("criteria", "context_overflow", "context_overflow"),
]


@pytest.mark.parametrize(("prompt", "fault", "kind"), REPLAY_FAULTS)
async def test_a_failed_replay_is_asked_anew_from_its_failing_step(
    settings: Settings, request_of: Requests, prompt: str, fault: str, kind: str
) -> None:
    """The failing step is a new draw, what stood before it is kept, and candidates are asked as if nothing had failed."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=SAMPLES, max_failures="100%")
    first, before = await failing(settings, request, Faulty(prompt, fault))
    failed = [row for row in before if row.outcome == "failed"]
    assert {row.failure for row in failed} == {kind}
    assert sum(row.kind == "replay" for row in failed) == sum(row.kind == "score" for row in failed) > 0
    transport = Faulty(prompt, fault)
    second, after = await retried(settings, first.run, transport)
    assert second.complete
    assert [row.failure for row in after] == [None] * len(before)
    assert prompt in transport.asked
    assert prompt == "solver" or "solver" not in transport.asked
    for call in transport.chats:
        name = recognised(call)
        again = {RETRY_STRIDE}
        draws = {"solver": again, "criteria": again, "criteria_check": again, "equivalence": {0, RETRY_STRIDE}}
        assert call.repeat in draws.get(name, {0})
    chains = {row.sample_id: row.chain_id for row in before if row.kind == "replay"}
    if prompt != "solver":
        assert {row.sample_id: row.chain_id for row in after if row.kind == "replay"} == chains
    with Home.open(settings.home, write=False) as home:
        (event,) = events(home, first.run, kind="retried")
        kept = {one["item"]: ResultRow.model_validate(one["failed"]) for one in event.data["items"]}
        assert kept == {row.item: row for row in failed}
        assert {item: retry.attempt for item, retry in retries(home, first.run).items()} == {
            row.item: int(row.kind == "replay") for row in failed
        }
    replays = {row.item: row for row in after if row.kind == "replay"}
    assert all(replays[row.item].calls[: len(row.calls)] == row.calls for row in failed if row.kind == "replay")


@pytest.mark.parametrize("prompt", ["equivalence", "criteria"])
async def test_a_verdict_on_the_chain_is_asked_anew_only_where_it_failed(
    settings: Settings, request_of: Requests, prompt: str
) -> None:
    """A failed verdict is another draw on the same chain; one that said yes stands when the criteria failed after it."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=SAMPLES)
    first, before = await failing(settings, request, Wordy(prompt, "malformed"))
    failed = {row.item: row for row in before if row.failure == "unparsable" and row.kind == "replay"}
    assert failed
    assert all(row.chain_id for row in failed.values())
    transport = Wordy(prompt, "malformed")
    _, after = await retried(settings, first.run, transport)
    assert set(transport.asked) == {"criteria", "criteria_check", "candidate", "checkpoints", "equivalence"}
    verdicts = [
        call for call in transport.chats if recognised(call) == "equivalence" and HEDGED in call.messages[1].text
    ]
    assert bool(verdicts) == (prompt == "equivalence")
    for row in after:
        if row.item in failed:
            assert row.outcome == "made"
            assert row.chain_id == failed[row.item].chain_id


@pytest.mark.parametrize(
    ("prompt", "fault", "kind"),
    [
        ("candidate", "content_filter", "refused"),
        ("candidate", "empty_content", "unparsable"),
        ("candidate", "context_overflow", "context_overflow"),
        ("checkpoints", "refusal", "refused"),
        ("checkpoints", "truncated", "truncated"),
        ("checkpoints", "wrong_score", "unparsable"),
        ("checkpoints", "unauthorized", "api_error"),
    ],
)
async def test_a_failed_answer_or_judgement_is_asked_anew(
    settings: Settings, request_of: Requests, prompt: str, fault: str, kind: str
) -> None:
    """An answer that exists is judged anew and not asked again; one that failed is asked again, then judged."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=SAMPLES, repeats=2, max_failures="100%")
    first, before = await failing(settings, request, Faulty(prompt, fault))
    failed = {row.item: row for row in before if row.outcome == "failed"}
    assert {row.failure for row in failed.values()} == {kind}
    transport = Faulty(prompt, fault)
    second, after = await retried(settings, first.run, transport)
    assert second.complete
    assert second.summary["models"]["sim/strong"]["coverage"] == 1
    assert transport.asked == (["candidate", "checkpoints"] if prompt == "candidate" else ["checkpoints"])
    assert {call.repeat for call in transport.chats} == {RETRY_STRIDE, RETRY_STRIDE + 1}
    for row in after:
        if row.item in failed and prompt == "checkpoints":
            assert row.response_id == failed[row.item].response_id is not None
            assert row.calls[: len(failed[row.item].calls)] == failed[row.item].calls
        elif row.item not in failed:
            assert row in before


LOST = [("malformed", "unparsable"), ("refusal", "refused"), ("unauthorized", "api_error")]


@pytest.mark.parametrize(("fault", "kind"), LOST)
async def test_a_lost_verdict_on_right_or_wrong_is_asked_anew(
    settings: Settings, request_of: Requests, fault: str, kind: str
) -> None:
    """Where the judge scored an answer and failed to say whether it is right, that alone is another draw."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=SAMPLES, repeats=2, max_failures="100%")
    whole = Settings(home=settings.home.with_name("whole"))
    expected, faultless = await failing(whole, request, Circling())
    first, before = await failing(settings, request, Circling("equivalence", fault))
    lost = {row.item: row for row in before if row.verdict == "unknown"}
    assert len(lost) == sum(row.kind == "score" for row in before)
    assert {row.outcome for row in lost.values()} == {"scored"}
    assert first.summary["models"]["sim/strong"]["strict_accuracy"]["coverage"] == 0
    transport = Circling("equivalence", fault)
    _, untouched = await retried(settings, first.run, transport, kinds=[one for one in RETRYABLE if one != kind])
    assert transport.sent == []
    assert untouched == before
    second, after = await retried(settings, first.run, transport)
    assert transport.asked == ["equivalence"]
    assert sorted(call.repeat for call in transport.chats) == [RETRY_STRIDE] * SAMPLES + [RETRY_STRIDE + 1] * SAMPLES
    assert (
        second.summary["models"]["sim/strong"]["strict_accuracy"]
        == expected.summary["models"]["sim/strong"]["strict_accuracy"]
    )
    assert [row.verdict for row in after] == [row.verdict for row in faultless]
    for row in after:
        if row.item in lost:
            old = lost[row.item]
            assert row.calls[: len(old.calls)] == old.calls
            assert row == old.model_copy(
                update={"final_id": row.final_id, "verdict": row.verdict, "calls": row.calls}
            ), "score, judgement and response stay"
    with Home.open(settings.home, write=False) as home:
        (event,) = events(home, first.run, kind="retried")
        assert {one["item"]: ResultRow.model_validate(one["failed"]) for one in event.data["items"]} == lost
    again = Circling()
    await retried(settings, first.run, again)
    assert again.sent == []


async def test_a_verdict_that_is_lost_again_is_asked_under_the_next_attempt(
    settings: Settings, request_of: Requests
) -> None:
    """Every retry is another draw, and where the budget ends before it, a plain resume goes on with the scores that were."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=3)
    faulty = {"prompt": "equivalence", "fault": "malformed", "until": 2}
    first, before = await failing(settings, request, Circling(**faulty))
    _, still = await retried(settings, first.run, Circling(**faulty))
    assert [row.verdict for row in still] == [row.verdict for row in before]
    part, _ = await retried(settings, first.run, Circling(**faulty), changes=so_many_more(settings, first.run, 1))
    assert not part.complete
    last = Circling(**faulty)
    done, after = await retried(settings, first.run, last, kinds=(), changes={"max_calls": None})
    assert last.asked == ["equivalence"]
    assert {call.repeat for call in last.chats} == {draw(0, 2)}
    assert done.complete
    assert {row.verdict for row in after if row.kind == "score"} <= {"right", "wrong"}
    assert [(row.item, row.score, row.judgement_id) for row in after] == [
        (row.item, row.score, row.judgement_id) for row in before
    ]


async def test_only_the_kinds_that_are_named_are_asked_anew(settings: Settings, request_of: Requests) -> None:
    """Other failures stay as they are, and where nothing failed so nothing is sent at all."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=SAMPLES)
    first, before = await failing(settings, request, Faulty("checkpoints", "refusal"))
    transport = Faulty()
    second, after = await retried(settings, first.run, transport, kinds=retryable("api_error,truncated"))
    assert transport.sent == []
    assert after == before
    assert second.summary == first.summary
    _, mended = await retried(settings, first.run, transport, kinds=retryable("refused"))
    assert all(row.failure is None for row in mended)


async def test_each_retry_is_another_draw(settings: Settings, request_of: Requests) -> None:
    """What fails again is asked under the next index when it is retried again, and every outcome stays on record."""
    request = request_of(judge="sim/judge", models=("sim/strong",), limit=3)
    faulty = {"prompt": "checkpoints", "fault": "refusal", "until": 3}
    first, _ = await failing(settings, request, Faulty(**faulty))
    seen: list[set[int]] = []
    after: list[ResultRow] = []
    for _ in range(3):
        transport = Faulty(**faulty)
        _, after = await retried(settings, first.run, transport)
        seen.append({call.repeat for call in transport.chats})
    assert seen == [{draw(0, 1)}, {draw(0, 2)}, {draw(0, 3)}]
    assert all(row.failure is None for row in after)
    with Home.open(settings.home, write=False) as home:
        assert len(events(home, first.run, kind="retried")) == 3


@pytest.mark.parametrize("prompt", ["solver", "criteria", "candidate", "checkpoints"])
async def test_an_interrupted_retry_goes_on_exactly(settings: Settings, request_of: Requests, prompt: str) -> None:
    """Stopped again and again, a retry sends nothing twice and ends with the figures of one that was never stopped."""
    request = request_of(judge="sim/judge-noisy", limit=SAMPLES)
    fault = "content_filter"
    whole = Settings(home=settings.home.with_name("whole"))
    expected, _ = await failing(whole, request, Faulty(prompt, fault))
    reference = Faulty(prompt, fault)
    expected, rows = await retried(whole, expected.run, reference)
    first, _ = await failing(settings, request, Faulty(prompt, fault))
    sent: list[str] = []
    kinds: Iterable[Any] = RETRYABLE
    result, after = first, []
    for _ in range(40):
        stop = Stop()
        transport = Faulty(prompt, fault, stop=stop, after=3)
        try:
            result, after = await retried(settings, first.run, transport, kinds=kinds, stop=stop)
        except Interrupted:
            continue
        finally:
            sent += [call.model_dump_json() for call in transport.chats]
            kinds = ()
        break
    assert result.summary == expected.summary
    assert after == rows
    assert sorted(sent) == sorted(call.model_dump_json() for call in reference.chats)


async def test_a_retry_that_ran_out_of_budget_goes_on_exactly(settings: Settings, request_of: Requests) -> None:
    """What no money was left for in a retry is taken up by a plain resume, in the same attempt."""
    request = request_of(judge="sim/judge-noisy", limit=SAMPLES)
    whole = Settings(home=settings.home.with_name("whole"))
    expected, _ = await failing(whole, request, Faulty("criteria", "refusal"))
    expected, rows = await retried(whole, expected.run, Faulty("criteria", "refusal"))
    first, _ = await failing(settings, request, Faulty("criteria", "refusal"))
    seven = so_many_more(settings, first.run, 7)
    part, _ = await retried(settings, first.run, Faulty("criteria", "refusal"), changes=seven)
    assert not part.complete
    lifted = {"max_calls": None}
    done, after = await retried(settings, first.run, Faulty("criteria", "refusal"), kinds=(), changes=lifted)
    assert done.summary == expected.summary
    assert after == rows


async def test_a_thread_that_outlived_its_result_is_not_continued(
    settings: Settings, request_of: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after a failure was committed and before its thread was cleared, the retry begins a thread of its own."""

    async def nothing(*_: object) -> None:
        return None

    request = request_of(judge="sim/judge", models=("sim/strong",), limit=3)
    with monkeypatch.context() as killed:
        killed.setattr(work_module, "delete_thread", nothing)
        killed.setattr(work_module, "close_thread", nothing)
        first, before = await failing(settings, request, Faulty("criteria", "refusal"))
    assert any(row.failure == "refused" for row in before)
    _, after = await retried(settings, first.run, Faulty("criteria", "refusal"))
    assert all(row.failure is None for row in after)


def test_kinds_are_named_or_refused() -> None:
    """No name means all kinds; an unknown kind, and `budget`, are refused with what there is."""
    assert retryable("") == RETRYABLE
    assert retryable("refused, api_error") == ("refused", "api_error")
    with pytest.raises(InputError, match="no failure is of kind 'lazy'; there are: unparsable"):
        retryable("lazy")
    with pytest.raises(InputError, match="every `dokimasia resume` takes it up"):
        retryable("budget")
