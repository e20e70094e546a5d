"""Rated criteria: who made them is known, so that a judge is not taken for a stranger to its own."""

from pathlib import Path

from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.quality.request import drawn_by
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.settings import Settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run


async def test_a_fork_keeps_who_made_its_criteria(settings: Settings, tmp_path: Path) -> None:
    """A fork that another judge scores has the criteria of the parent's judge."""
    write_world(tmp_path / "world.jsonl", 3, 0)
    request = EvaluationRequest(data=tmp_path / "world.jsonl", judge="sim/judge", models=("sim/strong",))
    first = await evaluate(request, settings=settings)
    with Home.open(settings.home, write=False) as home:
        parent = get_run(home, first.run)
    child = await fork(parent, ForkRequest(node="score", judge="sim/judge-lenient"), settings=settings)
    with Home.open(settings.home, write=False) as home:
        assert drawn_by(get_run(home, child.run)) == drawn_by(parent)
