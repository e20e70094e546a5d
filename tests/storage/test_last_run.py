"""The word that stands for the newest run."""

from pathlib import Path

import pytest

from dokimasia.errors import NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run, resolve_run
from dokimasia.storage.runs import Run, create_run


def run_of(id: str) -> Run:
    """A run of that id."""
    return Run(id=id, method="evaluate", command="evaluate", data_name="d", data_hash="h", options={}, seed=0)


async def test_last_is_the_run_that_was_accepted_last(tmp_path: Path) -> None:
    """Of two runs, `last` is the second, whatever the order of their ids; a beginning still finds the other."""
    with Home.open(tmp_path, write=True) as home:
        await create_run(home, run_of("ff00"))
        await create_run(home, run_of("aa00"))
        assert resolve_run(home, "last").id == "aa00"
        assert resolve_run(home, "ff").id == "ff00"


async def test_a_home_without_runs_has_no_last_one(tmp_path: Path) -> None:
    """Without any run, `last` is not found."""
    with Home.open(tmp_path, write=True) as home, pytest.raises(NotFound, match="no runs yet"):
        resolve_run(home, "last")


async def test_a_run_that_is_not_there_is_answered_with_names(tmp_path: Path) -> None:
    """The error lists runs by the names that people gave them, and those without one by their ids."""
    with Home.open(tmp_path, write=True) as home:
        await create_run(home, run_of("ff00"))
        await create_run(home, run_of("aa00"))
        await name_run(home, "ff00", "leaderboard", ())
        with pytest.raises(NotFound, match=r"aa00 \(evaluate\), leaderboard \(evaluate\)"):
            resolve_run(home, "nothing")
