"""What holds for a run of every kind: stopped, killed, out of money, retried, refused, forked, shown, exported, deleted."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.errors import ConfigError, HomeLocked, InputError, Interrupted, TransportError, Unreachable
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, preview_resume, resume, run
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.plans import run_id
from dokimasia.runs.preview import prepare as prepare_run
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.exporting import FORMATS, encode, export_rows
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.bundles import open_bundle, write_bundle
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import results
from dokimasia.storage.retries import earlier_outcomes
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.verification import verify_home
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import EVERY, KINDS, Kind, make


def row_of(settings: Settings, run: str) -> Run:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, run)


def newest(settings: Settings, kind: Kind) -> Run:
    with Home.open(settings.home, write=False) as home:
        return next(one for one in list_runs(home) if one.method == kind.name)


def watched(**stages: Any) -> CountingTransport:
    return CountingTransport(SimTransport(), **stages)


async def to_the_end(
    settings: Settings, world: Path, kind: Kind, transport_of: Callable[[Stop], CountingTransport], problem: Any
) -> tuple[RunResult, list[CountingTransport]]:
    """Begin a run and go on with it until it is complete, whatever stops it each time."""
    used: list[CountingTransport] = []
    for number in range(60):
        stop = Stop()
        used.append(transport_of(stop))
        services: dict[str, Any] = {"transports": {"sim": used[-1]}, "stop": stop}
        try:
            if number == 0:
                done = await make(settings, world, kind, services=services)
            else:
                row = newest(settings, kind)
                done = await resume(row, settings=settings, given=kind.given, **services)
        except problem:
            continue
        return done, used
    raise AssertionError("the run did not come to its end")


@EVERY
async def test_stopped_again_and_again(kind: Kind, world: Path, prepared: Prepared, finished: Finished) -> None:
    """Interrupted every few calls, a run comes to the same figures, and no call that came back is sent again."""
    _, whole = finished(kind)
    assert whole.complete
    settings = prepared(kind)
    done, used = await to_the_end(
        settings, world, kind, lambda stop: watched(stop=stop.ask, stop_after=kind.step), Interrupted
    )
    assert len(used) > 1
    assert done.run == whole.run
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    back = [call for transport in used for call in transport.done]
    assert len(back) == len({call.model_dump_json() for call in back})
    with Home.open(settings.home, write=False) as home:
        assert home.all("SELECT thread_id FROM threads WHERE run_id = ?", (done.run,)) == _held(home, done.run)


def _held(home: Home, run: str) -> list[Any]:
    """The threads that wait for a person: one a pending check."""
    return home.all("SELECT thread_id FROM threads WHERE run_id = ? AND graph = 'verification'", (run,))


@EVERY
async def test_killed(kind: Kind, world: Path, prepared: Prepared, finished: Finished) -> None:
    """A process that dies in the middle leaves a run that goes on to the same figures."""
    _, whole = finished(kind)
    deaths = iter([kind.step, 3 * kind.step, 4 * kind.step])

    def transport(stop: Stop) -> CountingTransport:
        left = next(deaths, None)

        def die(call: ModelCall) -> BaseException | None:
            return Crash("the machine went away") if left is not None and len(made.sent) > left else None

        made = watched(fail=die)
        return made

    done, used = await to_the_end(prepared(kind), world, kind, transport, (Crash, ConfigError))
    assert len(used) > 1
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


@EVERY
async def test_finished_asks_nothing_and_fresh_is_another_run(kind: Kind, world: Path, finished: Finished) -> None:
    """A finished run again, or resumed, sends nothing; --fresh makes a new run, which the ledger answers."""
    settings, first = finished(kind)
    silent = watched()
    services = {"transports": {"sim": silent}}
    again = await make(settings, world, kind, services=services)
    resumed = await resume(row_of(settings, first.run), settings=settings, given=kind.given, **services)
    assert again == resumed == first
    fresh = await make(settings, world, kind, services=services, fresh=True, **_apart(kind))
    assert fresh.run != first.run
    assert fresh.complete
    assert silent.sent == []


def _apart(kind: Kind) -> dict[str, Any]:
    """A second growth of one run needs a name of its own."""
    return {"name": "second"} if kind.name == "tree" else {}


@EVERY
async def test_out_of_money(kind: Kind, world: Path, prepared: Prepared, finished: Finished) -> None:
    """What a budget leaves open is open and no score; a resume that lifts the limit completes it to the same figures."""
    _, whole = finished(kind)
    settings = prepared(kind)
    transport = watched()
    part = await make(settings, world, kind, services={"transports": {"sim": transport}}, max_calls=kind.step)
    assert not part.complete
    assert len(transport.sent) <= kind.step
    assert row_of(settings, part.run).status == "interrupted"
    lifted = {"max_calls": None}
    row = row_of(settings, part.run)
    with Home.open(settings.home, write=False) as home:
        left = await preview_resume(home, row, settings=settings, changes=lifted, given=kind.given)
    method, request = method_named(kind.name), method_named(kind.name).read(row)[1]
    asked = await prepare_run(method, request, settings=settings, given=kind.given)
    assert (left["calls"], left["in_ledger"]) == (asked.estimate.remaining.calls, asked.estimate.in_ledger)
    done = await resume(row_of(settings, part.run), settings=settings, given=kind.given, changes=lifted)
    assert done.complete
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


@EVERY
async def test_a_model_that_cannot_be_reached(kind: Kind, world: Path, prepared: Prepared, finished: Finished) -> None:
    """A wrong key stops the run at the first few calls; it is failed, and the same request again comes to the whole."""
    _, whole = finished(kind)
    settings = prepared(kind)
    if kind.on:
        await make(settings, world, KINDS[kind.on])
    refused = watched(fail=lambda call: TransportError("auth", "no such key", retryable=False, status=401))
    with pytest.raises(Unreachable, match=r"cannot be reached: auth \(status 401\).*no such key"):
        await make(settings, world, kind, services={"transports": {"sim": refused}})
    assert len(refused.sent) <= 64, "those that were in flight together"
    row = newest(settings, kind)
    assert row.status == "failed"
    done = await make(settings, world, kind)
    assert (done.run, done.complete) == (row.id, True)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


@EVERY
async def test_failures_are_asked_anew(kind: Kind, world: Path, prepared: Prepared) -> None:
    """--retry-failed asks what failed as a new draw, keeps what was good and every earlier outcome; or says why it cannot."""
    settings = prepared(kind)
    faulty = SimTransport(faults=parse_faults(kind.faults))
    first = await make(settings, world, kind, services={"transports": {"sim": faulty}})
    row = row_of(settings, first.run)
    if not kind.reasked:
        with pytest.raises(InputError, match="cannot ask anew what failed: "):
            await resume(row, settings=settings, retry=RETRYABLE, given=kind.given)
        return
    with Home.open(settings.home, write=False) as home:
        failed = {one.item for one in results(home, first.run) if one.failure in RETRYABLE}
    assert failed, "the faults that were planted failed no item"
    good = watched()
    services = {"transports": {"sim": good}}
    again = await resume(row, settings=settings, retry=RETRYABLE, given=kind.given, **services)
    assert again.complete
    with Home.open(settings.home, write=False) as home:
        left = {one.item for one in results(home, first.run) if one.failure in RETRYABLE}
        assert left < failed
        assert {one.failed.item for one in earlier_outcomes(home, first.run)} == failed
    assert good.sent


@EVERY
async def test_refused_while_another_writes(kind: Kind, world: Path, prepared: Prepared) -> None:
    """While another process writes to the home, a run is refused with its name, and nothing is sent."""
    settings = prepared(kind)
    source = (await make(settings, world, KINDS[kind.on])).run if kind.on else ""
    method, request, silent = method_named(kind.name), kind.request(world, source), watched()
    with Home.open(settings.home, write=True, command="someone else"), pytest.raises(HomeLocked):
        await run(method, request, settings=settings, transports={"sim": silent}, given=kind.given)
    assert silent.sent == []


@EVERY
async def test_other_prompts_are_refused(kind: Kind, world: Path, prepared: Prepared, tmp_path: Path) -> None:
    """An unfinished run goes on under the prompts alone that it was accepted with."""
    import dokimasia.prompts

    settings = prepared(kind)
    part = await make(settings, world, kind, max_calls=kind.step)
    row = row_of(settings, part.run)
    plan: Any = row.options["plan"]
    name = sorted(plan["prompts"])[0]
    shipped = next(Path(dokimasia.prompts.__file__).parent.rglob(f"{name}.md"))
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / shipped.name).write_text(shipped.read_text().replace("version: ", "version: 9", 1))
    with pytest.raises(ConfigError, match=f"accepted with other prompts .*{name} was"):
        await resume(row, settings=settings, changes={"prompts": (folder,)}, given=kind.given)


@EVERY
async def test_a_dry_run_says_what_it_would_be(kind: Kind, world: Path, prepared: Prepared) -> None:
    """A dry run keeps nothing, names the run that the same request then makes, and its estimate is an upper bound."""
    settings = prepared(kind)
    source = (await make(settings, world, KINDS[kind.on])).run if kind.on else ""
    method, request = method_named(kind.name), kind.request(world, source)
    before = _runs(settings)
    accepted = await prepare_run(method, request, settings=settings, given=kind.given)
    assert _runs(settings) == before
    transport = watched()
    done = await make(settings, world, kind, services={"transports": {"sim": transport}})
    assert done.run == run_id(method, accepted.plan)
    assert accepted.estimate.samples > 0
    if accepted.estimate.models:
        assert len(transport.sent) <= accepted.estimate.calls * 2, "with one repair each at most"


@EVERY
async def test_too_many_items_are_refused(
    kind: Kind, world: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request of more items than a run may have is refused, in a dry run, too; the error counts them, and nothing is kept."""
    settings = prepared(kind)
    source = (await make(settings, world, KINDS[kind.on])).run if kind.on else ""
    method, request, before = method_named(kind.name), kind.request(world, source), _runs(settings)
    items = (await prepare_run(method, request, settings=settings, given=kind.given)).estimate.most_items
    monkeypatch.setattr("dokimasia.runs.method.MOST_ITEMS", items - 1)
    said = f"of {items:,} items is too large, since a run has {items - 1:,} at most: "
    for way in (prepare_run, run):
        with pytest.raises(InputError, match=re.escape(said) + r"\S+"):
            await way(method, request, settings=settings, given=kind.given)
    assert _runs(settings) == before


@EVERY
def test_the_items_of_a_run_are_counted_before_it_is_kept(kind: Kind, finished: Finished) -> None:
    """A run comes to no more rows of results than were counted when it was accepted."""
    settings, done = finished(kind)
    with Home.open(settings.home, write=False) as home:
        estimate = Estimate.model_validate(get_run(home, done.run).options["estimate"])
        assert len(results(home, done.run)) <= estimate.most_items


def _runs(settings: Settings) -> list[str]:
    if not settings.home.exists():
        return []
    with Home.open(settings.home, write=False) as home:
        return [one.id for one in list_runs(home)]


@EVERY
async def test_forked(kind: Kind, world: Path, finished: Finished) -> None:
    """With another judge or model a run is done again without its data file; or a sentence says what to do instead."""
    settings, parent = finished(kind)
    row = row_of(settings, parent.run)
    if kind.forked is None:
        with pytest.raises(InputError, match="is not forked: "):
            await fork(row, ForkRequest(judge="sim/judge-noisy"), settings=settings)
        return
    request = ForkRequest.model_validate(kind.forked)
    transport = watched()
    child = await fork(row, request, settings=settings, transports={"sim": transport}, given=kind.given)
    assert child.complete
    assert child.run != parent.run
    replaced = {*request.models, "sim/judge" if request.judge else ""}
    assert not replaced & {call.model.name for call in transport.sent}
    with pytest.raises(InputError, match=r"a fork changes something|nothing would change"):
        await fork(row, ForkRequest(node=request.node), settings=settings, given=kind.given)


@EVERY
async def test_exported_in_every_format(kind: Kind, world: Path, finished: Finished) -> None:
    """Every kind of run is exported as JSON lines, CSV and Parquet, and each cost is of calls in the ledger."""
    settings, done = finished(kind)
    with Home.open(settings.home, write=False) as home:
        export = await export_rows(home, get_run(home, done.run))
        known = SqliteLedger(home).calls_for(key for row in export.rows for key in row.get("call_keys", ()))
    assert export.rows
    assert all(key in known for row in export.rows for key in row.get("call_keys", ()))
    for format in FORMATS:
        assert encode(export, format)


@EVERY
async def test_compared(kind: Kind, world: Path, finished: Finished) -> None:
    """Two runs of a kind are compared, and what differs between them is named; or a sentence says what to do instead."""
    settings, first = finished(kind)
    second = await make(settings, world, kind, seed=1, **_apart(kind))
    with Home.open(settings.home, write=False) as home:
        rows = [get_run(home, one.run) for one in (first, second)]
        if not kind.compared:
            with pytest.raises(InputError, match="is not compared so: "):
                compare_runs(home, *rows)
            return
        if kind.name == "fingerprint":  # another seed draws other trials
            with pytest.raises(InputError, match="have no sample in common"):
                compare_runs(home, *rows)
            return
        found = compare_runs(home, *rows)
    assert [difference.what for difference in found.differs] == ["seed"] or kind.name == "diagnosis"
    assert found.pairs


@EVERY
async def test_deleted(kind: Kind, world: Path, finished: Finished) -> None:
    """A deleted run is gone; the same again costs nothing."""
    settings, done = finished(kind)
    with Home.open(settings.home, write=True) as home:
        deleted = await delete_whole_run(home, done.run)
        assert deleted.run == done.run
        assert done.run not in [one.id for one in list_runs(home)]
    silent = watched()
    if kind.name != "tree":  # a tree outlives the growth that made it
        again = await make(settings, world, kind, services={"transports": {"sim": silent}})
        assert again.run == done.run
        assert silent.sent == []


def test_every_method_of_the_package_is_here() -> None:
    """The contract is held by every method that the package has."""
    from dokimasia.runs.catalogue import OWN

    assert {kind.name for kind in KINDS.values()} == set(OWN)


@EVERY
async def test_bundled_and_opened(kind: Kind, finished: Finished, tmp_path: Path) -> None:
    """A bundle of a finished run gives an empty home the same figures and rows, and nothing of runs that it does not rest on."""
    settings, whole = finished(kind)
    bundle, folder = tmp_path / "run.dokimasia", tmp_path / "home"
    with Home.open(settings.home, write=False) as home:
        row, method = get_run(home, whole.run), method_named(kind.name)
        if row.status != "done":
            with pytest.raises(InputError, match=row.status):
                write_bundle(home, row, bundle)
            return
        manifest = write_bundle(home, row, bundle)
        expected = method.json_figures(home, row), results(home, row.id)
    opened = await open_bundle(bundle, folder)
    assert opened.added == opened.runs == manifest.runs
    with Home.open(folder, write=False) as home:
        row = get_run(home, whole.run)
        assert (method.json_figures(home, row), results(home, row.id)) == expected
        assert {run.id for run in list_runs(home)} == set(manifest.runs)
        assert all(not check.findings for check in verify_home(home))
