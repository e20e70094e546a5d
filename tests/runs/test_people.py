"""Runs in which a person takes the place of a model: the same contract as of any run, and nothing asked or paid twice."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.errors import ConfigError, InputError, Interrupted
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.people.checks import answer_all
from dokimasia.runs import work
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.reporting import run_data
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.checkpoints import Saver
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import withdrawn_items
from dokimasia.storage.results import result_failures
from dokimasia.storage.runs import get_run
from tests.runs.conftest import Prepared
from tests.runs.kinds import JUDGE, KINDS, MODELS, PANEL, Kind, make
from tests.runs.people import as_model, asked, status_of, to_the_end
from tests.sharing import one_at_a_time

ANA = "human/ana"
SAMPLES = 2

PEOPLE = {
    "a member of a panel": (Kind("review", {"panel": (*PANEL[:2], ANA)}), PANEL[2]),
    "a judge": (Kind("evaluate", {"judge": ANA, "models": MODELS}, step=2), JUDGE),
    "a candidate": (Kind("evaluate", {"judge": JUDGE, "models": ("sim/weak", ANA)}), "sim/strong"),
    "a judge of a duel": (Kind("duel", {"judge": ANA, "models": MODELS, "baseline": "sim/steady"}, step=2), JUDGE),
}


@pytest.fixture(scope="session")
def small(world: Path) -> Path:
    """The first samples of the planted world."""
    path = world.with_name("small.jsonl")
    with one_at_a_time(path):
        if not path.exists():
            path.write_text("".join(world.read_text().splitlines(keepends=True)[:SAMPLES]))
    return path


def watched(**stages: Any) -> CountingTransport:
    return CountingTransport(SimTransport(), **stages)


class Whole:
    """A finished run of each kind, with the home that it is in, made once."""

    def __init__(self, small: Path, folder: Path) -> None:
        self._small, self._folder = small, folder
        self._made: dict[str, Any] = {}

    async def of(self, name: str, prepared: Callable[[Kind, str], Settings]) -> Any:
        """Return the settings of a copy of the home, and what came of the run."""
        kind, like = next(one for key, one in PEOPLE.items() if key == name)
        if name not in self._made:
            settings = prepared(kind, f"whole {name}")
            first = await make(settings, self._small, kind)
            done = await to_the_end(settings, first.run, {"ana": as_model(settings, like)})
            shutil.copytree(settings.home, self._folder / name)
            self._made[name] = done
        settings = prepared(kind, f"copy of {name}")
        shutil.rmtree(settings.home, ignore_errors=True)
        shutil.copytree(self._folder / name, settings.home)
        return settings, self._made[name]


@pytest.fixture(scope="session")
def wholes(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The finished runs."""
    return Whole(small, tmp_path_factory.mktemp("wholes"))


@pytest.fixture(params=list(PEOPLE))
def case(request: pytest.FixtureRequest) -> str:
    """What the person is."""
    return request.param


async def test_it_waits_and_comes_to_its_end(case: str, small: Path, prepared: Prepared, wholes: Whole) -> None:
    """A run waits for people alone, says whom, lets the home go, and is done once all is answered; no call is sent twice."""
    kind, like = PEOPLE[case]
    _, whole = await wholes.of(case, prepared)
    assert (whole.complete, whole.end, whole.summary["status"]) == (True, "complete", "done")
    settings = prepared(kind)
    transport = watched()
    services: dict[str, Any] = {"transports": {"sim": transport}}
    first = await make(settings, small, kind, services=services)
    assert (first.complete, first.end, status_of(settings, first.run)) == (False, "waiting", "waiting")
    count = len(asked(settings, first.run))
    assert first.why == (
        f"{count} question{'' if count == 1 else 's'} wait{'s' if count == 1 else ''} for {ANA}: "
        f"`dokimasia decide {first.run} --who ana`"
    )
    assert all(number == 0 for number in _scored(first.summary)), "what waits is no score, and no failure of a model"
    sent = len(transport.sent)
    again = await resume(_row(settings, first.run), settings=settings, **services)
    assert (again.end, len(asked(settings, first.run)), len(transport.sent)) == ("waiting", count, sent)
    done = await to_the_end(settings, first.run, {"ana": as_model(settings, like)}, **services)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert len(transport.sent) == len({call.model_dump_json() for call in transport.sent})
    assert not asked(settings, first.run)


def _scored(summary: dict[str, Any]) -> list[int]:
    """How many failures of another kind than waiting there are, wherever a summary counts them."""
    found: list[int] = []

    def walk(one: Any) -> None:
        if isinstance(one, dict):
            for name, value in one.items():
                if name in ("failures", "failed_answers") and isinstance(value, dict):
                    found.extend(n for kind, n in value.items() if kind != "waiting" and isinstance(n, int))
                walk(value)
        elif isinstance(one, list):
            for value in one:
                walk(value)

    walk(summary)
    return found


def _row(settings: Settings, run: str) -> Any:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, run)


@pytest.mark.parametrize("how", ["stopped", "killed"])
async def test_stopped_and_killed_between_question_and_answer(
    case: str, how: str, small: Path, prepared: Prepared, wholes: Whole
) -> None:
    """Interrupted or killed again and again, before questions and after answers, it comes to the same bytes."""
    kind, like = PEOPLE[case]
    _, whole = await wholes.of(case, prepared)
    settings = prepared(kind)
    used: list[CountingTransport] = []
    left = iter([1, 2, 3, 5, 8])

    def transport(stop: Stop) -> CountingTransport:
        most = next(left, None)

        def die(call: ModelCall) -> BaseException | None:
            return Crash("the machine went away") if most is not None and len(made.sent) > most else None

        made = watched(fail=die) if how == "killed" else watched(stop=stop.ask, stop_after=most)
        used.append(made)
        return made

    run = whole.run
    for number in range(40):
        stop = Stop()
        services: dict[str, Any] = {"transports": {"sim": transport(stop)}, "stop": stop}
        try:
            if number == 0:
                done = await make(settings, small, kind, services=services)
            else:
                done = await resume(_row(settings, run), settings=settings, **services)
        except (Interrupted, Crash, ConfigError):
            assert status_of(settings, run) in ("interrupted", "failed", "running")
            continue
        if done.complete:
            break
        answer_all(settings, run, "ana", as_model(settings, like))
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    back = [call for one in used for call in one.done]
    assert len(back) == len({call.model_dump_json() for call in back})


async def test_killed_with_any_step_or_row(
    case: str, small: Path, prepared: Prepared, wholes: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any step or row is kept, a run asks again what it could not be told: no answer is left behind."""
    kind, like = PEOPLE[case]
    _, whole = await wholes.of(case, prepared)
    settings = prepared(kind)
    left = 0

    def dying(keep: Callable[..., Any]) -> Callable[..., Any]:
        async def kept(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:  # nothing is kept by a process that is dead
                raise Crash("the machine went away")
            return await keep(*arguments)

        return kept

    monkeypatch.setattr(work, "record_results", dying(work.record_results))
    monkeypatch.setattr(Saver, "aput", dying(Saver.aput))
    number, deaths, died = 0, 0, True
    while died:
        number += 1
        shutil.rmtree(settings.home, ignore_errors=True)
        left, died = number, False
        try:
            await make(settings, small, kind)
        except Crash:
            deaths, died = deaths + 1, True
        left = sys.maxsize
        while (done := await resume(_row(settings, whole.run), settings=settings)).end == "waiting":
            with Home.open(settings.home, write=False) as home:
                assert not withdrawn_items(home, whole.run)
            assert answer_all(settings, whole.run, "ana", as_model(settings, like)), "nothing is asked, and it waits"
        assert orjson.dumps(done.summary) == orjson.dumps(whole.summary), f"killed with number {number}"
    assert deaths >= SAMPLES


async def test_out_of_money_as_well(case: str, small: Path, prepared: Prepared, wholes: Whole) -> None:
    """A run that the budget stops, too, is interrupted and not waiting; questions that are known wait all the same."""
    kind, like = PEOPLE[case]
    _, whole = await wholes.of(case, prepared)
    settings = prepared(kind)
    part = await make(settings, small, kind, max_calls=1)
    while part.end == "waiting":  # a judge is asked for all that comes before the first call of a model
        answer_all(settings, part.run, "ana", as_model(settings, like))
        part = await resume(_row(settings, part.run), settings=settings, changes={"max_calls": 1})
    assert (part.complete, part.end, status_of(settings, part.run)) == (False, "spending", "interrupted")
    ana = {"ana": as_model(settings, like)}
    done = await to_the_end(settings, part.run, ana, changes={"max_calls": None})
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


async def test_what_is_open_is_no_failure_to_be_retried(case: str, small: Path, prepared: Prepared) -> None:
    """`--retry-failed` leaves what waits alone, and naming the kind is answered with a sentence."""
    from dokimasia.runs.outcome import RETRYABLE, retryable

    kind, _ = PEOPLE[case]
    settings = prepared(kind)
    first = await make(settings, small, kind)
    before = asked(settings, first.run)
    again = await resume(_row(settings, first.run), settings=settings, retry=RETRYABLE)
    assert (again.end, asked(settings, first.run)) == ("waiting", before)
    with pytest.raises(InputError, match="waiting was never answered: every `dokimasia resume` takes it up"):
        retryable("waiting")


async def test_reported_exported_forked_and_deleted(case: str, small: Path, prepared: Prepared, wholes: Whole) -> None:
    """A waiting run and a finished one are shown and exported; a fork asks the person anew; deleted and made again it is free."""
    settings, whole = await wholes.of(case, prepared)
    kind, _ = PEOPLE[case]
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, whole.run)
        assert (await export_rows(home, row)).rows
        assert run_data(home, row).facts.open_questions == 0
    child = (
        await fork(row, ForkRequest(models={ANA: "human/bert"}), settings=settings) if kind.name == "review" else None
    )
    if child is not None:
        assert set(asked(settings, child.run)) == {"bert"}
        with Home.open(settings.home, write=False) as home:
            assert run_data(home, get_run(home, child.run)).facts.open_questions == len(asked(settings, child.run))
    with Home.open(settings.home, write=True) as home:
        await delete_whole_run(home, whole.run)
    silent = watched()
    again = await make(settings, small, kind, services={"transports": {"sim": silent}})
    assert (again.run, again.complete, silent.sent) == (whole.run, True, [])


JUDGED = [kind for kind in KINDS.values() if JUDGE in str(kind.fields) and kind.name not in ("evaluate", "duel")]


def _with_ana(value: Any) -> Any:
    """A field of a request with the person in the judge's place."""
    if isinstance(value, tuple):
        return tuple(map(_with_ana, value))
    return ANA if value == JUDGE else value


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.id)
async def test_every_method_takes_a_person_for_its_judge(
    kind: Kind, small: Path, world: Path, prepared: Prepared
) -> None:
    """Whatever is judged, a person can judge it: the run waits, round by round, and nothing of it fails or stays open."""
    settings = prepared(kind)
    fields = {name: _with_ana(value) for name, value in kind.fields.items()}
    data = world if kind.files or kind.on else small
    first = await make(settings, data, replace(kind, fields=fields))
    people = {"ana": as_model(settings, JUDGE)}
    done = await to_the_end(settings, first.run, people, given=kind.given) if first.end == "waiting" else first
    assert (done.complete, status_of(settings, done.run), asked(settings, done.run)) == (True, "done", [])
    with Home.open(settings.home, write=False) as home:
        assert not result_failures(home, done.run)
    if kind.name not in ("graph", "perturb"):
        assert first.end == "waiting"
