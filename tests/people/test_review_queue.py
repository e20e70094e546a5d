"""The queue of what waits for people: counted, in order, taken back, never decided over another's decision unseen."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.domain.decision import CheckItem, Decision, Standing
from dokimasia.errors import DecidedMeanwhile, InputError
from dokimasia.people.annotation import asked_of, hand_out_here, queued, rateable, rating_text, ratings_of
from dokimasia.people.checks import (
    all_standings,
    checked,
    is_due,
    keep_decision,
    last_decision,
    next_due,
    review_items,
    review_queue,
    take_back,
)
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from dokimasia.storage.threads import live_threads
from tests.runs.kinds import KINDS, made


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A home with perturbations that wait, and duels that can be handed out."""
    folder = tmp_path_factory.mktemp("queue")
    write_world(folder / "world.jsonl", 7, 2)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    runs = [made(settings, folder / "world.jsonl", KINDS[kind]).run for kind in ("perturb", "duel")]
    return folder / "home", runs[0], runs[1]


@pytest.fixture
def home(made_once: tuple[Path, str, str], tmp_path: Path) -> Iterator[Home]:
    """A copy of the home, open for writing."""
    import shutil

    shutil.copytree(made_once[0], tmp_path / "home")
    with Home.open(tmp_path / "home", write=True) as opened:
        yield opened


def _decide(home: Home, item: str, action: str, who: str, seen: int | None = None) -> Decision:
    return asyncio.run(keep_decision(home, checked(home, item, action, who=who, seen=seen)))  # pyright: ignore[reportArgumentType]


def test_a_decision_is_taken_back_and_the_item_waits_again(home: Home, made_once: tuple[Path, str, str]) -> None:
    """What a person takes back counts nowhere any more: state, figures, thread; another's second opinion then settles it."""
    run = get_run(home, made_once[1])
    first, second = (one.item.id for one in review_items(home, run)[:2])
    threads = len(live_threads(home))
    _decide(home, first, "valid", "ana")
    _decide(home, first, "incorrect", "bob")
    _decide(home, second, "valid", "ana")
    assert len(live_threads(home)) == threads - 2
    assert (last := last_decision(review_items(home, run), "ana")) is not None
    assert last.item == second
    asyncio.run(take_back(home, second, who="ana"))
    stands = {one.item.id: one for one in all_standings(home, run.id)}
    assert stands[second].state == "waiting"
    assert stands[second].last_of("ana") is None
    assert len(live_threads(home)) == threads - 1
    asyncio.run(take_back(home, first, who="ana"))
    stands = {one.item.id: one for one in all_standings(home, run.id)}
    assert stands[first].state == "incorrect"
    with pytest.raises(InputError, match="no decision of eve"):
        asyncio.run(take_back(home, first, who="eve"))
    _decide(home, second, "valid", "ana")
    assert len({one.number for one in all_standings(home, run.id)[1].decisions}) == 3


def test_what_something_was_made_from_is_not_taken_back(home: Home, made_once: tuple[Path, str, str]) -> None:
    """A probe rests on the labels that it was made with; one that is given later can be taken back still."""
    run = get_run(home, made_once[1])
    items = [one.item.id for one in review_items(home, run)]
    for one in items[:-1]:
        _decide(home, one, "valid", "ana")
    home.close()
    asked = {"data": Path(run.id), "judges": ("sim/judge",), "evaluators": ("single-vanilla",)}
    probe = method_named("probe")
    settings = load_settings(home=home.path, cwd=home.path, env={})
    done = asyncio.run(run_method(probe, probe.request.model_validate(asked), settings=settings))
    with Home.open(home.path, write=True) as opened:
        with pytest.raises(InputError, match=f"run {done.run} .probe. was made from run {run.id}"):
            asyncio.run(take_back(opened, items[0], who="ana"))
        _decide(opened, items[-1], "valid", "ana")
        asyncio.run(take_back(opened, items[-1], who="ana"))


def test_nobody_decides_over_another_unseen(home: Home, made_once: tuple[Path, str, str]) -> None:
    """The second of two who look at an item learns who decided, not what; seen, it is a second opinion; the same again is one."""
    run = get_run(home, made_once[1])
    item = review_items(home, run)[0].item.id
    _decide(home, item, "valid", "ana", seen=0)
    with pytest.raises(DecidedMeanwhile, match=r"ana decided on it \(at"):
        _decide(home, item, "incorrect", "bob", seen=0)
    with pytest.raises(DecidedMeanwhile, match="you, in another place"):
        _decide(home, item, "not_sure", "ana", seen=0)
    assert _decide(home, item, "valid", "ana", seen=0).number == 1
    assert _decide(home, item, "incorrect", "bob", seen=1).number == 2
    stands = all_standings(home, run.id)[0]
    assert (stands.state, list(stands.opinions)) == ("valid", ["ana", "bob"])
    asyncio.run(take_back(home, item, who="ana"))
    with pytest.raises(DecidedMeanwhile, match="took a decision back"):
        _decide(home, item, "valid", "ana", seen=2)


def test_the_queue_says_what_waits_for_whom(home: Home, made_once: tuple[Path, str, str]) -> None:
    """Runs are counted by kind and person, the next item is the next that one can decide on, and comes round again."""
    _, perturbed, duelled = made_once
    (before,) = review_queue(home)
    assert (before.run.id, before.people) == (perturbed, {"": before.waiting})
    run = get_run(home, duelled)
    assert rateable(home, run) == ["pair", "response"]
    assert asyncio.run(hand_out_here(home, run, "pair", annotators=("ana", "bob"), cases=2)) == 8
    assert asyncio.run(hand_out_here(home, run, "pair", annotators=("ana", "bob"), cases=2)) == 0
    queue = {one.run.id: one for one in review_queue(home)}
    assert queue[duelled].people == {"ana": 4, "bob": 4}
    assert (queue[duelled].of("ana"), queue[duelled].of("eve")) == (4, 0)
    items = review_items(home, run)
    mine = [one.item.id for one in items if is_due(one, "ana")]
    found = [mine[-1]]
    for _ in mine[1:]:
        following = next_due(items, "ana", after=found[-1])
        assert following is not None
        found.append(following.item.id)
    assert sorted(found) == sorted(mine)
    assert next_due(items, "eve") is None


def test_ratings_are_blind_and_come_back_on_the_models_side(home: Home, made_once: tuple[Path, str, str]) -> None:
    """What is shown names no model; a verdict is turned to the model's side, and only whom it was given to can rate it."""
    run = get_run(home, made_once[2])
    asyncio.run(hand_out_here(home, run, "pair", annotators=("ana", "bob")))
    for one in queued(home, run.id):
        assert "sim/" not in one.item.text
        text = rating_text(one.item, {"verdict": "left better", "comment": "so"})
        who = str(one.item.person)
        with pytest.raises(InputError, match="handed out to"):
            checked(home, one.item, "rate", who="eve", text=text)
        asyncio.run(keep_decision(home, checked(home, one.item, "rate", who=who, text=text)))
    said = ratings_of(queued(home, run.id))
    assert {one.value for one in said} == {1, -1}
    assert len({(one.unit, one.annotator) for one in said}) == len(said)
    assert [one["measure"] for one in asked_of(queued(home, run.id)[0].item)] == ["verdict"]
    with pytest.raises(InputError, match="verdict is 'middle'"):
        rating_text(queued(home, run.id)[0].item, {"verdict": "middle"})
    assert not all_standings(home, run.id)


def test_who_takes_back_and_decides_again_comes_after_who_stood() -> None:
    """The order in which people stand is that of the decisions that they have not taken back."""
    item = CheckItem(run="r", kind="caption", sample_id="s", subject="x", text="One. Two.")
    steps = [("ana", "accept"), ("bob", "reject"), ("ana", "undo"), ("ana", "accept")]
    made = [
        Decision(item=item.id, number=number, who=who, at=str(number), action=action, text=item.text)  # pyright: ignore[reportArgumentType]
        for number, (who, action) in enumerate(steps, 1)
    ]
    stands = [Standing(item=item, decisions=tuple(made[:n])).state for n in range(5)]
    assert stands == ["waiting", "accepted", "accepted", "rejected", "rejected"]
