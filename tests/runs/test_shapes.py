"""The published shape of every method's figures: it takes exactly what a run prints, whatever state the run is in."""

import asyncio
from pathlib import Path
from typing import Any

import orjson

from dokimasia.cli.main import run as command_line
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, run_sync
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import EVERY, JUDGE, KINDS, OTHER, Kind, made


def holds(name: str, figures: Any) -> None:
    """Read figures as JSON by their shape, strictly, and write them again: nothing is lost, changed or added."""
    shape: Any = method_named(name).shape
    text = orjson.dumps(figures)
    read = shape().model_validate_json(text, strict=True)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == orjson.loads(text)


@EVERY
def test_the_figures_have_their_shape(kind: Kind, world: Path, prepared: Prepared, capsys: Any) -> None:
    """Of a run that asked nothing, one that was stopped, a finished one and one with failures; printed with its items."""
    settings = prepared(kind)
    for limit in (0, kind.step):
        holds(kind.name, made(settings, world, kind, max_calls=limit).summary)
    done = made(settings, world, kind)
    assert done.complete
    faulty = SimTransport(faults=parse_faults(kind.faults))
    holds(kind.name, made(prepared(kind, "faulty"), world, kind, services={"transports": {"sim": faulty}}).summary)

    capsys.readouterr()
    assert command_line(["show", done.run, "--home", str(settings.home), "--json"]) == 0
    printed = orjson.loads(capsys.readouterr().out)
    assert command_line(["schema", kind.name]) == 0
    schema = orjson.loads(capsys.readouterr().out)
    assert set(schema["required"]) <= set(printed) <= set(schema["properties"])
    assert all(isinstance(one, dict) for one in printed.pop("items", ()))
    holds(kind.name, printed)


def test_what_only_some_runs_say_has_its_shape(world: Path, prepared: Prepared, finished: Finished) -> None:
    """Arms without images, repeats, forks, a threshold, a tree to refine by and one to grow on."""
    for name in ("evaluate", "audit"):
        kind = KINDS[name]
        blind = made(prepared(kind, name), world, kind, no_image=True, repeats=2)
        assert blind.summary["blind"]
        holds(name, blind.summary)

    settings, parent = finished(KINDS["evaluate"])
    forked = _forked(settings, parent)
    assert forked.summary["forked_from"] == {"run": parent.run, "node": "score"}
    holds("evaluate", forked.summary)

    grown = made(settings, world, KINDS["tree"])
    again = _asked(settings, "tree", run=parent.run, judge=OTHER, onto=grown.summary["tree"])
    assert again.summary["grown_on"]
    holds("tree", again.summary)

    refined = made(settings, world, KINDS["refine"], threshold=5)
    (model,) = refined.summary["models"].values()
    assert model["apart"]
    assert model["by_capability"]
    holds("refine", refined.summary)


def _forked(settings: Settings, parent: RunResult) -> RunResult:
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, parent.run)
    return asyncio.run(fork(row, ForkRequest(node="score", judge=OTHER), settings=settings))


def _asked(settings: Settings, name: str, **fields: Any) -> RunResult:
    method = method_named(name)
    return run_sync(method, method.request.model_validate({"judge": JUDGE, **fields}), settings=settings)


def test_methods_are_listed_with_their_shapes(capsys: Any) -> None:
    """Without a method the command lists all of the package's, and passports; of an unknown one it says what there is."""
    assert command_line(["schema"]) == 0
    methods = dict.fromkeys(kind.name for kind in KINDS.values())
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*methods, "passport"]
    assert command_line(["schema", "reviews"]) == 2
    assert "reviews" in capsys.readouterr().err
