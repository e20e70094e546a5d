"""What is stored of a request means the same later: runs by their ids, and nothing of what a run is called."""

import asyncio
from pathlib import Path

import pytest

from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.preview import prepare
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from tests.runs.conftest import Prepared
from tests.runs.kinds import KINDS, Kind

RESTING = [kind for kind in KINDS.values() if kind.on]


@pytest.mark.parametrize("kind", RESTING, ids=lambda kind: kind.id)
def test_a_stored_command_names_the_run_that_last_meant(kind: Kind, prepared: Prepared, world: Path) -> None:
    """A method that rests on `last` keeps the id of the run that this was: the stored command means no other run later."""
    settings = prepared(kind)
    with Home.open(settings.home, write=False) as home:
        source = list_runs(home)[0].id
    request = kind.request(world, "last")
    accepted = asyncio.run(prepare(method_named(kind.name), request, settings=settings, given=kind.given))
    words = (accepted.request or request).command.split()
    assert source in words
    assert "last" not in words


def test_a_stored_command_does_not_repeat_what_the_run_is_called(world: Path) -> None:
    """Name and tags stay with the run and may change: they are no part of the command."""
    request = EvaluationRequest(data=world, models=("sim/weak",), name="base", tags=("ci",))
    assert request.command == f"evaluate {world.name} --models sim/weak"
