"""What is left to pay for a run whose calls the ledger has, in whole or in part, by the estimate before it starts."""

from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.estimate import Estimate, ExpectedCalls, total_estimate
from dokimasia.runs.preview import prepare
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import EVERY, KINDS, Kind, make


async def estimate_of(settings: Settings, world: Path, kind: Kind, **changes: Any) -> Estimate:
    """The estimate of a dry run of a kind."""
    source = ""
    if kind.on:
        with Home.open(settings.home, write=False) as home:
            source = next(run.id for run in list_runs(home) if run.method == KINDS[kind.on].name)
    request = kind.request(world, source, **changes)
    return (await prepare(method_named(kind.name), request, settings=settings, given=kind.given)).estimate


def _apart(kind: Kind) -> dict[str, Any]:
    """A second growth of one run needs a name of its own."""
    return {"name": "second"} if kind.name == "tree" else {}


@EVERY
async def test_nothing_is_left_of_what_the_ledger_has(kind: Kind, world: Path, finished: Finished) -> None:
    """A finished run, and the same asked for anew, have nothing left to ask and to pay; what they rest on stays counted."""
    settings, _ = finished(kind)
    before = _content(settings)
    done = await estimate_of(settings, world, kind)
    fresh = await estimate_of(settings, world, kind, fresh=True, **_apart(kind))
    for estimate in (done, fresh):
        assert (estimate.remaining.calls, estimate.remaining.cost) == (0, 0.0)
        assert sum(model.calls for model in estimate.undecided.values()) == 0
        assert estimate.in_ledger == estimate.calls
    assert fresh.notes == done.notes
    assert _content(settings) == before


def _content(settings: Settings) -> dict[str, int]:
    with Home.open(settings.home, write=False) as home:
        tables = [name for (name,) in home.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {name: home.all(f"SELECT count(*) FROM {name}")[0][0] for name in tables}
    return counts | {"images": sum(1 for file in (settings.home / "blobs").rglob("*") if file.is_file())}


@EVERY
async def test_what_is_left_is_no_less_than_what_is_then_asked(kind: Kind, world: Path, prepared: Prepared) -> None:
    """After a run that ended in its middle, the same asked for anew is estimated at no less than it then sends."""
    settings = prepared(kind)
    await make(settings, world, kind, max_calls=2 * kind.step)
    whole, left = await estimate_of(settings, world, kind), await estimate_of(settings, world, kind, fresh=True)
    transport = CountingTransport(SimTransport())
    await make(settings, world, kind, services={"transports": {"sim": transport}}, fresh=True, **_apart(kind))
    most = {name: model.calls for name, model in left.asked.items()}
    for name, model in left.undecided.items():
        most[name] = most.get(name, 0) + model.calls
    asked: dict[str, int] = {}
    for call in transport.sent:
        if not (call.kind == "chat" and len(call.messages) > 1 and call.messages[-2].role == "assistant"):
            asked[call.model.name] = asked.get(call.model.name, 0) + 1
    assert not whole.calls or all(count <= most.get(name, 0) for name, count in asked.items()), (asked, most)
    assert left.remaining.calls <= whole.calls


def test_what_is_left_of_a_model_are_its_dearer_calls() -> None:
    """Where it is unknown which calls the ledger has, those that are left cost no less than the dearest that could be."""
    spec = ModelSpec(ref=ModelRef(name="m", model="m"), input_price=1.0, output_price=1.0)
    whole = total_estimate([ExpectedCalls(spec, 4, 1000, 0, "short"), ExpectedCalls(spec, 4, 9000, 0, "long")], 4)
    part = whole.without({"m": 6}, samples=4, complete=False)
    assert [step.left for step in part.by_step] == [0, 2]
    assert part.remaining.cost == pytest.approx(2 * 0.009)
    mixed = total_estimate([ExpectedCalls(spec, 4, 1000, 0), ExpectedCalls(spec, 4, 9000, 0)], 4)
    assert mixed.without({"m": 4}, samples=4, complete=False).remaining.cost == pytest.approx(4 * 0.009)
    assert whole.without({}, samples=4, complete=True).remaining.calls == 0
