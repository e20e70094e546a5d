"""Whole runs with three replies in ten faulty, on every transport: recovered or failed by their kind, and none missing."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import ModelCall, ModelReply, ModelSpec
from dokimasia.domain.judgement import FinalAnswer
from dokimasia.domain.ports import Transport
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import load_settings
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.serving.faults import (
    CONTENT_FAULTS,
    LASTING_FAULTS,
    MOST_IN_A_ROW,
    TRANSPORT_FAULTS,
    Faults,
    Tries,
)
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from tests.bad_days.conftest import SAMPLES, no_waiting
from tests.processes import PATIENCE

WAYS = ("sim", "litellm", "direct")
HTTP_WAYS = [pytest.param(way, marks=pytest.mark.full) for way in WAYS[1:]]
MODELS = {"J": "judge", "A": "strong", "B": "hasty"}
NOBODY = "no criteria for this sample: "

HALF = SAMPLES // 2

LARGE_BODIES = pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")
"""LiteLLM's client does so with a long answer, which the judge is sent."""

SHORT, LONG = 1.0, 120.0
"""Time limits of a try behind HTTP, in seconds: of one that is planted to take too long, and of any other."""

NO_FAULTS = Faults()
TRANSPORT = Faults(rates={kind: 0.3 / len(TRANSPORT_FAULTS) for kind in TRANSPORT_FAULTS})
BELONGING = (*LASTING_FAULTS, *CONTENT_FAULTS)
EVERYTHING = Faults(
    rates={kind: 0.165 / len(kinds) for kinds in (TRANSPORT_FAULTS, BELONGING) for kind in kinds},
)
"""A reply is whole when neither its try nor its request is faulty: 0.835 × 0.835 = 0.70."""

LEADS_TO = {
    "refused": {"refusal", "content_filter"},
    "truncated": {"truncated"},
    "context_overflow": {"context_overflow"},
    "api_error": {"unauthorized"},
    "unparsable": {
        *("malformed", "empty_content", "missing_score", "wrong_score", "extra_criterion", "contradictory_scores"),
        "truncated",
    },
}
"""Which planted faults may stand behind a failure of each kind. A text that was cut may still be read, as a bad one."""


@dataclass
class Day:
    """A run with its rows, its verdicts on answers by item, its failed tries by kind, what was asked, and its requests.

    The requests are those behind the committed calls.
    """

    result: RunResult
    rows: list[ResultRow]
    finals: dict[str, FinalAnswer]
    attempts: Counter[str]
    lost_looks: Counter[str]
    asked: list[str]
    request_of: dict[str, str]

    @property
    def figures(self) -> dict[str, Any]:
        """What the run says, but for its id, which names the way that was taken."""
        return {name: value for name, value in self.result.summary.items() if name != "run"}


Days = Callable[[str, Faults, int], Day]


class Limited:
    """A transport that gives a try which is planted to take too long little time, and any other as long as it needs.

    Else a busy machine would have tries fail that nobody planted.
    """

    def __init__(self, transport: Transport, faults: Faults) -> None:
        """Wrap it; the tries are counted as the server counts them."""
        self._transport, self._tries = transport, Tries(faults)

    async def send(self, call: ModelCall, spec: ModelSpec, **more: Any) -> ModelReply:
        """Send it."""
        late = self._tries.next_fault(request_hash(call)) == "timeout"
        return await self._transport.send(call, spec.model_copy(update={"timeout": SHORT}) if late else spec, **more)

    async def aclose(self) -> None:
        """Close it."""
        await self._transport.aclose()


@contextmanager
def models_behind(
    way: str, faults: Faults, folder: Path, asked: list[str], timeout: float
) -> Iterator[dict[str, Transport]]:
    """Configure simulated models with the faults, in process or behind HTTP; afterwards `asked` holds all requests."""
    log = folder / "server.log"
    if way == "sim":
        _configure(folder, 'model = "sim/{model}"\ntransport = "sim"', timeout)
        transport = CountingTransport(SimTransport(faults=faults))
        yield {"sim": transport}
        asked.extend(request_hash(call) for call in transport.sent if call.kind == "chat")
        return
    with running_server(faults=faults, log_path=log) as url:
        _configure(folder, f'model = "openai/sim/{{model}}"\napi_base = "{url}"\ntransport = "{way}"', timeout)
        yield {way: Limited({"direct": DirectTransport, "litellm": LiteLLMTransport}[way](), faults)}
    asked.extend(json.loads(line)["request"] for line in log.read_text().splitlines())


def _configure(folder: Path, reached: str, timeout: float) -> None:
    rest = f'endpoint = "planted"\ninput_price = 1.0\noutput_price = 4.0\ntimeout = {timeout}\n'
    tables = [f"[models.{name}]\n{reached.format(model=model)}\n{rest}" for name, model in MODELS.items()]
    (folder / "dokimasia.toml").write_text("\n".join(tables))


async def live_through(
    way: str, faults: Faults, world: Path, folder: Path, *, limit: int | None = None, seconds: float = LONG
) -> Day:
    """Evaluate the world, or its beginning, on such a day; `seconds` is the time limit of a call."""
    folder.mkdir(exist_ok=True)
    asked: list[str] = []
    with models_behind(way, faults, folder, asked, seconds) as transports:
        settings = load_settings(home=folder / "home", cwd=folder, env={})
        request = EvaluationRequest(data=world, judge="J", models=("A", "B"), limit=limit, max_failures="100%")
        async with asyncio.timeout(PATIENCE):
            result = await evaluate(request, settings=settings, transports=transports)
    with Home.open(folder / "home", write=False) as home:
        ledger = SqliteLedger(home)
        calls = {key: ledger.rebuild(key)[0] for (key,) in home.all("SELECT key FROM calls")}
        rows = list(results(home, result.run))
        decided = find_values(home, FinalAnswer, [row.final_id for row in rows if row.final_id])
        return Day(
            result=result,
            rows=rows,
            finals={row.item: decided[row.final_id] for row in rows if row.final_id},
            attempts=Counter(kind for (kind,) in home.all("SELECT kind FROM attempts")),
            lost_looks=Counter(
                kind
                for _, kind in home.all("SELECT DISTINCT call_key, kind FROM attempts WHERE label = 'criteria_check'")
            ),
            asked=asked,
            request_of={key: request_hash(call) for key, call in calls.items() if call.kind == "chat"},
        )


def planted_attempts(faults: Faults, requests: set[str]) -> Counter[str]:
    """The failed tries that each of the requests meets before it is served, by the kind that the gateway gives them."""
    counted: Counter[str] = Counter()
    for request in requests:
        for attempt in range(MOST_IN_A_ROW):
            fault = faults.for_try(request, attempt)
            if fault is None:
                break
            counted[TRANSPORT_FAULTS[fault].kind] += 1
        lasting = faults.for_request(request)
        if lasting in LASTING_FAULTS:
            counted[LASTING_FAULTS[lasting].kind] += 1
    return counted


HTTP_DAYS = (("litellm", EVERYTHING, SAMPLES), ("direct", EVERYTHING, SAMPLES), ("direct", TRANSPORT, HALF))
"""The days behind HTTP, which are lived through together: nearly all of each is waiting for calls' time limits to pass."""

INSTANT = 0.1
"""The time limit of a call in process, in seconds: such a call waits for nothing but a planted fault."""


@pytest.fixture(scope="module")
def day_of(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Days:
    """Lives through a day, once for each transport and kind of day.

    LiteLLM loads more at its first call, which is no part of a day on which calls have little time.
    """
    lived: dict[tuple[str, str, int], Day] = {}

    async def together(days: Sequence[tuple[str, Faults, int]]) -> list[Day]:
        for way in sorted({way for way, _, _ in days}):
            await live_through(way, NO_FAULTS, world, tmp_path_factory.mktemp("first"), limit=1)
        with no_waiting():
            return await asyncio.gather(
                *(
                    live_through(
                        way,
                        faults,
                        world,
                        tmp_path_factory.mktemp("day"),
                        limit=limit,
                        seconds=INSTANT if way == "sim" else LONG,
                    )
                    for way, faults, limit in days
                )
            )

    def live(way: str, faults: Faults, limit: int) -> Day:
        if (way, str(faults), limit) not in lived:
            days = [(way, faults, limit)] if way == "sim" else HTTP_DAYS
            for (by, such, samples), day in zip(days, asyncio.run(together(days)), strict=True):
                lived[by, str(such), samples] = day
        return lived[way, str(faults), limit]

    return live


@pytest.mark.parametrize("way", ["sim", "direct"])
@pytest.mark.full
def test_every_transport_fault_recovers(way: str, day_of: Days) -> None:
    """With every kind of transport fault in three tries of ten the figures are those of a day without any."""
    good_day, day = day_of("sim", NO_FAULTS, HALF), day_of(way, TRANSPORT, HALF)
    assert day.result.complete
    assert day.figures == good_day.figures
    assert [(row.item, row.outcome, row.score, row.failure) for row in day.rows] == [
        (row.item, row.outcome, row.score, row.failure) for row in good_day.rows
    ]
    assert set(day.asked) == set(good_day.asked) == set(day.request_of.values())
    assert day.attempts == planted_attempts(TRANSPORT, set(day.asked))
    assert len(day.asked) == len(set(day.asked)) + day.attempts.total()
    met = {TRANSPORT.for_try(request, 0) for request in day.asked}
    assert met >= set(TRANSPORT_FAULTS), "the world is too small to meet every kind"


@LARGE_BODIES
@pytest.mark.parametrize("way", ["sim", *HTTP_WAYS])
def test_faults_of_all_kinds_end_as_a_score_or_a_named_failure(way: str, day_of: Days) -> None:
    """With three replies in ten faulty in every way, each item is scored or failed by its kind, and all are counted."""
    good_day, day = day_of("sim", NO_FAULTS, SAMPLES), day_of(way, EVERYTHING, SAMPLES)
    summary = day.result.summary
    assert (day.result.complete, summary["status"], summary["open_items"], summary["samples"]) == (
        True,
        "done",
        0,
        SAMPLES,
    )
    for figures in summary["models"].values():
        assert figures["n"] == SAMPLES
        assert figures["n_scored"] + sum(figures["failures"].values()) == SAMPLES
        assert 0.3 < figures["coverage"] == pytest.approx(figures["n_scored"] / SAMPLES)
    assert {row.item for row in day.rows} == {row.item for row in good_day.rows}
    assert {fault for fault in map(EVERYTHING.for_request, day.asked) if fault} == set(BELONGING), "too small a world"
    assert {EVERYTHING.for_try(request, 0) for request in day.asked} > set(TRANSPORT_FAULTS), "too small a world"
    assert day.attempts == planted_attempts(EVERYTHING, set(day.asked))
    _check_failures(day)
    _check_untouched(day, good_day)


@LARGE_BODIES
@pytest.mark.parametrize("way", HTTP_WAYS)
def test_the_figures_of_a_bad_day_are_the_same_on_every_transport(way: str, day_of: Days) -> None:
    """Which transport the faulty replies came by changes no figure."""
    assert day_of(way, EVERYTHING, SAMPLES).figures == day_of("sim", EVERYTHING, SAMPLES).figures


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("missing_score", "there is no line of the form 'N | score: [S]' for criterion"),
        ("wrong_score", "has the score '7', not an integer from 1 to 5"),
        ("extra_criterion", "but the criteria are 1 to"),
        ("contradictory_scores", "criterion 1 is scored more than once"),
    ],
)
def test_a_judge_that_cannot_count_fails_by_name_and_scores_nothing(
    fault: str, says: str, small_world: Path, tmp_path: Path
) -> None:
    """Scores that are missing, of 7, for what was not asked, or two for one criterion, are no number in any figure."""
    day = asyncio.run(live_through("sim", Faults(rates={fault: 1.0}), small_world, tmp_path))
    rows = [row for row in day.rows if row.kind == "score"]
    assert len(rows) == 2 * 8
    for row in rows:
        assert (row.failure, row.score) == ("unparsable", None)
        assert says in str(row.reason)
        own = len(row.calls) - len(day.finals[row.item].calls)
        assert own == 3, "an answer, a judgement, and the one that was to repair it, beside the verdict on the answer"
    for figures in day.result.summary["models"].values():
        assert (figures["n"], figures["n_scored"], figures["failures"]) == (8, 0, {"unparsable": 8})
        assert (figures["score"], figures["bounds"]) == (None, {"low": 1.0, "high": 5.0})


@LARGE_BODIES
@pytest.mark.parametrize("way", [HTTP_WAYS[0], "direct"])
def test_ten_megabytes_of_text_change_no_score(way: str, small_world: Path, tmp_path: Path) -> None:
    """Replies of ten megabytes are read, judged and kept like any other; scores that a judge buries in them are refused."""
    faults = Faults(rates={"huge": 0.2})
    days = [
        asyncio.run(live_through(*one, small_world, tmp_path / str(one[1] is faults), limit=4))
        for one in ((way, faults), ("sim", NO_FAULTS))
    ]
    long, short = days
    assert long.result.complete
    made_huge = {key for key, request in long.request_of.items() if faults.for_request(request)}
    assert any(made_huge & set(row.calls) for row in long.rows if row.kind == "score")
    found = {row.item: (row.outcome, row.score) for row in long.rows}
    plain = {row.item: (row.outcome, row.score) for row in short.rows}
    buried = {row.item for row in long.rows if "beside the form stands" in (row.reason or "")}
    assert {item: one for item, one in found.items() if item not in buried} == {
        item: one for item, one in plain.items() if item not in buried
    }
    assert all(found[item] == ("failed", None) for item in buried), "a judge that goes on beside the form says no score"
    assert any(made_huge & set(row.calls) for row in long.rows if row.kind == "score" and row.item not in buried)


def _check_failures(day: Day) -> None:
    """Every failure has a planted cause of its kind; a call that got no reply is one failed item, or one verdict.

    Only a second look at criteria costs no item: the criteria stay as they are.
    """
    own = [row for row in day.rows if row.outcome == "failed" and not row.reason.startswith(NOBODY)]
    assert own
    for row in own:
        faults = {EVERYTHING.for_request(day.request_of[key]) for key in row.calls}
        if row.failure not in ("context_overflow", "api_error"):
            assert faults & LEADS_TO[str(row.failure)], (row.item, row.failure, row.reason, faults)
    counted = Counter(row.failure for row in own) + Counter(final.failure for final in day.finals.values())
    for kind in ("context_overflow", "api_error"):
        (fault,) = LEADS_TO[kind]
        lost = day.lost_looks["auth" if kind == "api_error" else kind]
        assert counted[kind] + lost == sum(EVERYTHING.for_request(request) == fault for request in set(day.asked))
    replays = {row.sample_id: row for row in day.rows if row.kind == "replay"}
    for row in day.rows:
        if row.reason is not None and row.reason.startswith(NOBODY):
            assert row.failure == replays[row.sample_id].failure


def _check_untouched(day: Day, good_day: Day) -> None:
    """An item none of whose calls were faulty has the score that it has on a good day."""
    good = {row.item: row for row in good_day.rows}
    harmless = {None, "missing_usage", "odd_finish"}

    def whole(row: ResultRow) -> bool:
        return all(EVERYTHING.for_request(day.request_of[key]) in harmless for key in row.calls)

    replayed = {row.sample_id for row in day.rows if row.kind == "replay" and row.outcome == "made" and whole(row)}
    scored = [row for row in day.rows if row.kind == "score" and row.score is not None and row.sample_id in replayed]
    untouched = [row for row in scored if whole(row)]
    assert len(untouched) > 20
    for row in untouched:
        assert row.score == good[row.item].score
