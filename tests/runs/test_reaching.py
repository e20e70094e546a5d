"""A run stops where a model cannot be reached, and goes on where one call alone fails."""

from pathlib import Path

import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.errors import AttemptKind, TransportError, Unreachable
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import result_failures, results
from dokimasia.storage.runs import get_run


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def request_(tmp_path: Path) -> EvaluationRequest:
    write_world(tmp_path / "world.jsonl", 7, 5)
    return EvaluationRequest(data=tmp_path / "world.jsonl", judge="sim/judge", models=("sim/strong", "sim/weak"))


class Failing:
    """Fails the calls to a model from the nth to the mth on, in the order in which they are sent."""

    def __init__(self, model: str, kind: AttemptKind, first: int, last: int = 10**9, status: int | None = None) -> None:
        self._model, self._status = model, status
        self._kind: AttemptKind = kind
        self._range, self._seen = range(first, last + 1), 0

    def __call__(self, call: ModelCall) -> TransportError | None:
        self._seen += call.model.name == self._model
        if call.model.name != self._model or self._seen not in self._range:
            return None
        return TransportError(self._kind, "no", retryable=False, status=self._status)


def transports(fail: Failing) -> dict[str, CountingTransport]:
    return {"sim": CountingTransport(SimTransport(), fail=fail)}


async def test_a_judge_that_goes_down_in_mid_run(settings: Settings, request_: EvaluationRequest) -> None:
    """No row stands for what was not asked; the same request goes on to the figures of an undisturbed run."""
    whole = await evaluate(request_, settings=Settings(home=settings.home.with_name("whole")))
    with pytest.raises(Unreachable, match="sim/judge cannot be reached: connection"):
        await evaluate(request_, settings=settings, transports=transports(Failing("sim/judge", "connection", 20)))
    with Home.open(settings.home, write=False) as home:
        assert get_run(home, whole.run).status == "failed"
        assert result_failures(home, whole.run) == {}
    assert await evaluate(request_, settings=settings) == whole


async def test_one_candidate_of_two(settings: Settings, request_: EvaluationRequest) -> None:
    """Another model's answers do not hide that one cannot be reached; with every failure allowed the run goes on."""
    failing = Failing("sim/weak", "auth", 1, status=401)
    with pytest.raises(Unreachable, match="sim/weak cannot be reached: auth"):
        await evaluate(request_, settings=settings, transports=transports(failing))
    allowed = request_.model_copy(update={"max_failures": "100%"})
    done = await evaluate(allowed, settings=settings, transports=transports(failing))
    assert (done.complete, done.end) == (True, "complete")
    with Home.open(settings.home, write=False) as home:
        failed = [row.model for row in results(home, done.run) if row.failure == "api_error"]
    assert failed == ["sim/weak"] * 7


@pytest.mark.parametrize("first", [1, 9])
@pytest.mark.parametrize(("kind", "status"), [("connection", None), ("auth", 403), ("not_found", 404)])
async def test_a_failure_between_answers_is_the_item_s_own(
    settings: Settings, request_: EvaluationRequest, kind: AttemptKind, status: int | None, first: int
) -> None:
    """Where a model answers other calls, one that failed stays a failed item, whichever came first."""
    fail = Failing("sim/judge", kind, first, first, status)
    done = await evaluate(request_, settings=settings, transports=transports(fail))
    assert done.complete
    with Home.open(settings.home, write=False) as home:
        assert result_failures(home, done.run) == {"api_error": 3}, "criteria, and the scores of both answers"


async def test_a_run_too_short_for_a_few_calls(settings: Settings, request_: EvaluationRequest) -> None:
    """One call that cannot reach its model is enough where nothing else is under way."""
    short = request_.model_copy(update={"limit": 1})
    with pytest.raises(Unreachable):
        await evaluate(short, settings=settings, transports=transports(Failing("sim/judge", "not_found", 1)))
