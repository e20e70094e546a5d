"""Verification by people: what waits survives death, copying and lost checkpoints; no decision is ever lost."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.errors import InputError, NotFound
from dokimasia.methods.review import ReviewRequest, review
from dokimasia.people.checks import all_standings, decide, open_for_people, pending_checks
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.checkpoints import open_saver
from dokimasia.storage.decisions import file_decision, filed_decisions, standings
from dokimasia.storage.deletion import delete_run
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import matches_seal
from dokimasia.storage.threads import live_threads
from tests.processes import PATIENCE

PANEL = ("sim/panel-a", "sim/panel-b")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with a review of seven scenes, none of them disputed, and the run's id."""
    import asyncio

    folder = tmp_path_factory.mktemp("reviewed")
    write_described(folder / "data.jsonl", 7, 0, disputed=0.0)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    request = ReviewRequest(data=folder / "data.jsonl", panel=PANEL)
    return folder, asyncio.run(review(request, settings=settings)).run


@pytest.fixture
def settings(reviewed: tuple[Path, str], tmp_path: Path) -> Settings:
    """Settings of a copy of that home in another place."""
    shutil.copytree(reviewed[0] / "home", tmp_path / "elsewhere")
    return load_settings(home=tmp_path / "elsewhere", cwd=tmp_path, env={})


@pytest.fixture
def run(reviewed: tuple[Path, str]) -> str:
    """The run's id."""
    return reviewed[1]


@pytest.fixture
def ask(settings: Settings, reviewed: tuple[Path, str]) -> Callable[[], int]:
    """Does the review again and returns how many calls the ledger has."""

    def count() -> int:
        import asyncio

        request = ReviewRequest(data=reviewed[0] / "data.jsonl", panel=PANEL)
        asyncio.run(review(request, settings=settings))
        with Home.open(settings.home, write=False) as home:
            return home.all("SELECT count(*) FROM calls")[0][0]

    return count


def _in_another_process(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=PATIENCE)


def test_people_are_told_to_be_definite_with_every_caption(settings: Settings, run: str) -> None:
    """The annotators' policy (PerceptionRubrics, appendix D) stands beside each caption, in every way of checking."""
    waiting = pending_checks(run, settings=settings)
    assert waiting
    assert all("instead of leaving it vague or guessed" in one.item.detail for one in waiting)


def test_reasons_that_wait_as_a_file_count_at_once(settings: Settings, run: str) -> None:
    """A decision that is left for the process that writes keeps its reasons, before and after it is taken in."""
    item = pending_checks(run, settings=settings)[0].item
    with Home.open(settings.home, write=True):
        assert decide(item, "reject", who="anna", reasons=("vague",), settings=settings) is None
        with Home.open(settings.home, write=False) as home:
            assert all_standings(home, run)[0].decisions[0].reasons == ("vague",)
    open_for_people(settings, run)
    with Home.open(settings.home, write=False) as home:
        (row,) = home.rows("SELECT * FROM decisions")
        assert row["reasons"] == "vague"
        assert matches_seal("decisions", row)
        assert standings(home, run)[0].decisions[0].reasons == ("vague",)
    again = decide(item, "reject", who="anna", reasons=("vague", "other"), settings=settings)
    assert again is not None
    assert (again.number, again.reasons) == (2, ("vague", "other"))
    with pytest.raises(InputError, match="reasons belong to an edit or a rejection of a caption, not to accept"):
        decide(item, "accept", who="anna", reasons=("vague",), settings=settings)


def test_a_finished_review_waits_as_rows_and_threads(settings: Settings, run: str) -> None:
    """Each golden caption is a row that waits, with a thread held by an interrupt."""
    waiting = pending_checks(run, settings=settings)
    assert len(waiting) >= 5
    with Home.open(settings.home, write=False) as home:
        assert {one.item.id for one in standings(home, run) if one.state == "waiting"} == {
            one.item.id for one in waiting
        }
        assert sum("verification@" in thread for thread in live_threads(home)) == len(waiting)


def test_a_decision_made_elsewhere_survives_the_death_of_its_process(settings: Settings, run: str) -> None:
    """A process that decides and dies by SIGKILL at once leaves the decision, and the next one goes on after it."""
    first = pending_checks(run, settings=settings)[0].item
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from dokimasia.people.checks import decide\n"
        "from dokimasia.settings import load_settings\n"
        "settings = load_settings(home=Path(sys.argv[1]), env={})\n"
        "decide(sys.argv[2], 'edit', who='anna', delete=[1], settings=settings)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = _in_another_process(code, str(settings.home), first.id)
    assert died.returncode == -9, died.stderr
    with Home.open(settings.home, write=False) as home:
        decided = next(one for one in standings(home, run) if one.item.id == first.id)
    assert (decided.state, decided.decisions[0].who) == ("edited", "anna")
    assert decided.text == first.text.partition(". ")[2]
    assert first.id not in {one.item.id for one in pending_checks(run, settings=settings)}


def test_a_death_between_row_and_thread_is_made_good(settings: Settings, run: str) -> None:
    """A decision whose process died before the thread went on is taken by the thread at the next opening."""
    import asyncio

    from dokimasia.storage.decisions import FiledDecision, record_decision

    item = pending_checks(run, settings=settings)[0].item
    left = FiledDecision(item=item, who="anna", at="2026-01-01T00:00:00+00:00", action="accept")
    with Home.open(settings.home, write=True) as home:
        asyncio.run(record_decision(home, left))
        assert any(item.id in thread for thread in live_threads(home))
    open_for_people(settings, run)
    with Home.open(settings.home, write=False) as home:
        assert not any(item.id in thread for thread in live_threads(home))


@pytest.mark.parametrize("lost", [True, False], ids=["checkpoints deleted", "checkpoints kept"])
def test_a_lost_thread_is_rebuilt_and_nothing_is_asked_again(
    settings: Settings, run: str, ask: Callable[[], int], lost: bool
) -> None:
    """With or without checkpoints.db an item is decided as before, and no model is called for it."""
    with Home.open(settings.home, write=False) as home:
        before = home.all("SELECT count(*) FROM calls")[0][0]
    if lost:
        for path in settings.home.glob("checkpoints.db*"):
            path.unlink()
    waiting = pending_checks(run, settings=settings)
    decision = decide(waiting[0].item.id, "reject", who="anna", settings=settings)
    assert decision is not None
    rest = open_for_people(settings, run)
    assert [one.state for one in rest].count("waiting") == len(waiting) - 1
    assert ask() == before
    with sqlite3.connect(settings.home / "checkpoints.db") as held:
        threads = {id for (id,) in held.execute("SELECT DISTINCT thread_id FROM checkpoints")}
    assert sum("verification@" in id for id in threads) == len(waiting) - 1


def test_while_another_process_writes_decisions_are_left_and_taken_in(settings: Settings, run: str) -> None:
    """A decision made beside a writer lies in a file, counts at once, and is a row after the next command that writes."""
    items = [one.item for one in pending_checks(run, settings=settings)]
    with Home.open(settings.home, write=True):
        assert decide(items[0], "accept", who="anna", settings=settings) is None
        assert decide(items[1].id, "edit", who="anna", text="A cat.", settings=settings) is None
        assert len(list(filed_decisions(settings.home))) == 2
        assert len(pending_checks(run, settings=settings)) == len(items) - 2
    decide(items[2], "accept", who="bert", settings=settings)
    assert not list(filed_decisions(settings.home))
    with Home.open(settings.home, write=False) as home:
        states = {one.item.id: one.state for one in standings(home, run)}
    assert [states[one.id] for one in items[:3]] == ["accepted", "edited", "accepted"]


async def test_a_run_takes_in_what_was_left(settings: Settings, reviewed: tuple[Path, str], run: str) -> None:
    """A run that begins takes the files in before its work."""
    item = pending_checks(run, settings=settings)[0].item
    with Home.open(settings.home, write=True):
        decide(item, "accept", who="anna", settings=settings)
    request = ReviewRequest(data=reviewed[0] / "data.jsonl", panel=PANEL, seed=1)
    await review(request, settings=settings)
    assert not list(filed_decisions(settings.home))
    with Home.open(settings.home, write=False) as home:
        assert next(one for one in standings(home, run) if one.item.id == item.id).state == "accepted"


def test_a_file_that_cannot_be_used_is_set_aside(settings: Settings, run: str) -> None:
    """A decision of a run that is gone, and a broken file, stop nothing."""
    from dokimasia.storage.decisions import FiledDecision

    item = pending_checks(run, settings=settings)[0].item
    stray = item.model_copy(update={"run": "gone"})
    file_decision(settings.home, FiledDecision(item=stray, who="anna", at="2026-01-01T00:00:00", action="accept"))
    (settings.home / "decisions" / "0-broken.json").write_text("{")
    decide(item, "accept", who="anna", settings=settings)
    kept = sorted(path.suffix for path in (settings.home / "decisions").iterdir())
    assert kept == [".json", ".refused"]


def test_second_opinions_are_kept_and_settle_nothing(settings: Settings, run: str) -> None:
    """Whoever decided first settles the item and may change their mind; somebody else's decision is kept beside it."""
    item = pending_checks(run, settings=settings)[0].item
    decide(item, "edit", who="anna", delete=[1, 2], settings=settings)
    decide(item, "reject", who="bert", settings=settings)
    assert [one.item.id for one in pending_checks(run, settings=settings, who="carl", second=True)] == [item.id]
    assert pending_checks(run, settings=settings, who="bert", second=True) == []
    with Home.open(settings.home, write=False) as home:
        standing = next(one for one in all_standings(home, run) if one.item.id == item.id)
        assert standing.state == "edited"
        assert [one.who for one in standing.decisions] == ["anna", "bert"]
        assert standing.decisions[0].difference.startswith("--- before\n+++ after")
    decide(item, "accept", who="anna", settings=settings)
    decide(item, "accept", who="anna", settings=settings)
    with Home.open(settings.home, write=False) as home:
        standing = next(one for one in all_standings(home, run) if one.item.id == item.id)
    assert (standing.state, len(standing.decisions), standing.text) == ("accepted", 3, item.text)


def test_impossible_decisions_are_refused(settings: Settings, run: str) -> None:
    """An unknown item, an edit without a change or of a sentence there is not, and a nameless person are the user's mistake."""
    item = pending_checks(run, settings=settings)[0].item
    with pytest.raises(NotFound, match="no item"):
        decide("0000", "accept", who="anna", settings=settings)
    with pytest.raises(InputError, match="changes nothing"):
        decide(item, "edit", who="anna", text=item.text, settings=settings)
    with pytest.raises(InputError, match="sentences 1 to"):
        decide(item, "edit", who="anna", delete=[999], settings=settings)
    with pytest.raises(InputError, match="name"):
        decide(item, "accept", who="  ", settings=settings)
    with pytest.raises(InputError, match="second opinion"):
        pending_checks(run, settings=settings, second=True)


async def test_deciding_inside_an_event_loop(settings: Settings, run: str) -> None:
    """From a notebook, where a loop runs already, a decision is made as from plain code."""
    item = pending_checks(run, settings=settings)[0].item
    decision = decide(item, "accept", who="anna", settings=settings)
    assert decision is not None
    assert decision.action == "accept"


async def test_a_deleted_run_takes_its_items_and_decisions_along(settings: Settings, run: str) -> None:
    """Nothing of the run stays in the tables of checks, and its threads are swept."""
    from dokimasia.storage.checkpoints import sweep_orphans

    item = pending_checks(run, settings=settings)[0].item
    decide(item, "accept", who="anna", settings=settings)
    with Home.open(settings.home, write=True) as home:
        await delete_run(home, run)
        assert home.all("SELECT count(*) FROM check_items")[0][0] == 0
        assert home.all("SELECT count(*) FROM decisions")[0][0] == 0
        async with open_saver(home) as saver:
            assert await sweep_orphans(saver, live_threads(home)) >= 4
