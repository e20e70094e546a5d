"""Questions to people: who may answer, what is refused and where it is kept, what is taken back, what it costs."""

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Message, call_key
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.people.checks import (
    all_standings,
    answer,
    answer_all,
    answered_since,
    decide,
    draft_of,
    keep_draft,
    show_question,
    take_in_answers,
    undo,
    waiting_questions,
)
from dokimasia.runs.lifecycle import RunResult, resume, run
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.preview import preview
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.simulation.world import write_described
from dokimasia.storage.decisions import filed_decisions
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import get_run
from dokimasia.storage.verification import verify_home
from tests.runs.people import as_model, to_the_end

PANEL = ("sim/panel-a", "sim/panel-b", "human/ana")


def _settings(folder: Path, home: str = "home", config: str = "") -> Settings:
    path = folder / "dokimasia.toml"
    path.write_text(config)
    return load_settings(config=path, home=folder / home, cwd=folder, env={})


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """A home in which a review of two scenes waits for a description of each."""
    folder = tmp_path_factory.mktemp("waiting")
    write_described(folder / "data.jsonl", 2, 0, disputed=0.0)
    return folder, asyncio.run(run(METHOD, _request(folder), settings=_settings(folder)))


def _request(folder: Path, *panel: str) -> ReviewRequest:
    return ReviewRequest(data=folder / "data.jsonl", panel=panel or PANEL)


@pytest.fixture
def settings(waiting: tuple[Path, RunResult], tmp_path: Path) -> Settings:
    """Settings of a copy of it."""
    shutil.copytree(waiting[0], tmp_path, dirs_exist_ok=True)
    return _settings(tmp_path)


@pytest.fixture
def id(waiting: tuple[Path, RunResult]) -> str:
    """The run's id."""
    return waiting[1].run


def _items(settings: Settings) -> list[str]:
    with Home.open(settings.home, write=False) as home:
        return [one.item for one in waiting_questions(home)]


def _row(settings: Settings, id: str) -> Any:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id)


async def test_a_question_is_whole(settings: Settings, id: str) -> None:
    """What is kept is what a model would be sent, under the key of its call; when it was first shown is kept once."""
    with Home.open(settings.home, write=True) as home:
        first, second = waiting_questions(home)
        assert (first.run, first.person, first.prompt, first.position) == (id, "ana", "describe", 0)
        assert (second.position, waiting_questions(home, who="bert"), waiting_questions(home, run="other")) == (
            1,
            [],
            [],
        )
        question = await show_question(home, first.item)
        assert (call_key(question.call), question.open) == (question.key, True)
        assert question.call.model.model == "human/ana"
        assert len([image for message in question.call.messages for image in message.images]) == 1
        again = await show_question(home, first.item)
        assert again.shown_at == question.shown_at != ""
        assert get_question(home, second.item).shown_at == ""
        assert all(not check.findings for check in verify_home(home))


async def test_only_its_person_answers_and_nothing_is_lost(settings: Settings) -> None:
    """Another person is told whose question it is; what cannot be used, or comes too late, is kept as a draft that is named."""
    item = _items(settings)[0]
    with Home.open(settings.home, write=True) as home:
        told = await answer(home, item, "A cat.", who="bert")
        assert "is a question to ana, and bert cannot answer it: --who ana" in told.faults
        assert (home.path / "drafts").glob("*")
        assert "the reply is empty" in (await answer(home, item, " ", who="ana")).faults
        assert (await answer(home, item, "A cat sits.", who="ana")).done
        assert (await answer(home, item, "A cat sits.", who="ana")).done, "the same once more is the same"
        late = await answer(home, item, "A dog sits.", who="ana")
        assert "was answered at" in late.faults
        kept = Path(late.faults.rpartition("kept in ")[2].rstrip(")"))
        assert kept.read_text() == "A dog sits."
        assert draft_of(home, get_question(home, item), "ana") == "A dog sits."
        assert get_question(home, item).reply == "A cat sits."


async def test_an_answer_is_taken_back_until_a_run_rests_on_it(settings: Settings, id: str) -> None:
    """Undone, a question waits again with its text as the draft; once the run has taken the answer up it stays."""
    items = _items(settings)
    with Home.open(settings.home, write=True) as home:
        assert not answered_since(home, id)
        assert "no decision of ana that could be taken back" in (await undo(home, items[0], who="ana")).faults
        for item in items:
            assert (await answer(home, item, "A cat sits.", who="ana")).done
        assert answered_since(home, id)
        assert (await undo(home, items[0], who="ana")).done
        assert [one.item for one in waiting_questions(home)] == [items[0]]
        assert draft_of(home, get_question(home, items[0]), "ana") == "A cat sits."
        assert (await answer(home, items[0], "A dog sits.", who="ana")).done
    await resume(_row(settings, id), settings=settings)
    with Home.open(settings.home, write=True) as home:
        assert not answered_since(home, id)
        assert "rests on the answer already" in (await undo(home, items[0], who="ana")).faults
        question = get_question(home, items[0])
        assert (question.reply, question.used_at != "", question.open) == ("A dog sits.", True, False)
        call, reply = SqliteLedger(home).rebuild(question.key)
        assert (call, reply.version, reply.usage.input_tokens) == (question.call, "ana", 0)
        said = next(one.decisions for one in all_standings(home, id) if one.item.id == items[0])
        assert [one.action for one in said] == ["reply", "undo", "reply"]
        at = home.one("SELECT created_at, cost FROM calls WHERE key = ?", (question.key,))
        assert at == (said[-1].at, 0.0), "the ledger says when it was answered, and that it cost nothing"


def test_a_wrong_form_is_told_at_once_and_by_the_run_once(settings: Settings, id: str) -> None:
    """A reply without the form is refused with every fault named; one that got past is sent back by the run, once."""
    answer_all(settings, id, "ana", as_model(settings, "sim/panel-c"))
    asyncio.run(resume(_row(settings, id), settings=settings))
    item = _items(settings)[0]
    with pytest.raises(InputError, match=r"cannot be used: there is no critique of candidate 1.*<ranking> is missing"):
        decide(item, "reply", text="the first is best", who="ana", settings=settings)
    with sqlite3.connect(settings.home / "dokimasia.db") as hand:
        hand.execute("UPDATE questions SET reader = '' WHERE id = ?", (item,))
    decide(item, "reply", text="the first is best", who="ana", settings=settings)
    asyncio.run(resume(_row(settings, id), settings=settings))
    with Home.open(settings.home, write=False) as home:
        back = [get_question(home, one) for one in _items(settings)]
    sent = [one for one in back if one.call.messages[-2].role == "assistant"]
    assert len(sent) == 1
    assert "there is no critique of candidate 1" in sent[0].call.messages[-1].text
    with Home.open(settings.home, write=False) as home:
        shown = next(one.item.text for one in all_standings(home, id) if one.item.id == sent[0].item)
    assert "Your earlier reply:\nthe first is best" in shown


def test_while_another_process_holds_the_home(settings: Settings, id: str) -> None:
    """An answer is left as a file, counts at once, and is taken in by who holds the home."""
    items = _items(settings)
    with Home.open(settings.home, write=True) as home:
        assert decide(items[0], "reply", text="A cat sits.", who="ana", settings=settings) is None
        assert len(list(filed_decisions(settings.home))) == 1
        states = {one.item.id: one.state for one in all_standings(home, id)}
        assert states == {items[0]: "answered", items[1]: "waiting"}
        assert not answered_since(home, id)
        assert asyncio.run(take_in_answers(home)) == 1
        assert answered_since(home, id)


def test_a_deleted_run_withdraws_its_questions(settings: Settings, id: str) -> None:
    """An answer to a question whose run is gone is refused with a sentence, and one that was left as a file is set aside."""
    items = _items(settings)
    with Home.open(settings.home, write=True) as home:
        decide(items[0], "reply", text="A cat sits.", who="ana", settings=settings)
        asyncio.run(delete_whole_run(home, id))
        with pytest.raises(NotFound, match=r"no question .*: the run that asked it may have been deleted|no item"):
            asyncio.run(answer(home, items[1], "A cat sits.", who="ana"))
        assert asyncio.run(take_in_answers(home)) == 0
    assert [path.suffix for path in (settings.home / "decisions").iterdir()] == [".refused"]
    again = asyncio.run(run(METHOD, _request(settings.home.parent), settings=settings))
    assert (again.run, again.end, len(_items(settings))) == (id, "waiting", 2)


def test_what_a_run_does_not_ask_any_more_is_withdrawn(settings: Settings, id: str) -> None:
    """A question that a run came to its end without is withdrawn: it waits for nobody, and an answer is kept as a draft."""
    items = _items(settings)
    with sqlite3.connect(settings.home / "dokimasia.db") as hand:
        hand.execute(
            "INSERT INTO check_items SELECT 'old', run_id, kind, sample_id, 'other', text, detail, 7, state, opened_at, "
            "row_digest, person FROM check_items WHERE id = ?",
            (items[0],),
        )
        hand.execute(
            "INSERT INTO questions SELECT 'old', 'other', model_name, request, form, reader, asked_at, NULL, NULL, NULL, "
            "row_digest FROM questions WHERE id = ?",
            (items[0],),
        )
    assert len(_items(settings)) == 3
    asyncio.run(resume(_row(settings, id), settings=settings))
    assert _items(settings) == items
    with Home.open(settings.home, write=True) as home:
        item = next(one for one in all_standings(home, id)).item
        assert item.id in items
        row = home.rows("SELECT withdrawn_at FROM questions WHERE id = 'old'")[0]
        assert row["withdrawn_at"]


def test_two_runs_that_ask_the_same_are_answered_once(settings: Settings, id: str) -> None:
    """One answer counts for the same question of every run that waits for it; taken back by none that rests on it."""
    request = ReviewRequest(data=settings.home.parent / "data.jsonl", panel=PANEL, cycles=3)
    other = asyncio.run(run(METHOD, request, settings=settings))
    assert (other.end, other.run != id) == ("waiting", True)
    assert answer_all(settings, id, "ana", as_model(settings, "sim/panel-c")) == 2
    with Home.open(settings.home, write=False) as home:
        assert not waiting_questions(home)
        assert answered_since(home, id)
        assert answered_since(home, other.run)
    done = asyncio.run(to_the_end(settings, other.run, {"ana": as_model(settings, "sim/panel-c")}))
    assert done.complete
    whole = asyncio.run(to_the_end(settings, id, {"ana": as_model(settings, "sim/panel-c")}))
    assert whole.summary["verdicts"] == done.summary["verdicts"]


def test_a_run_that_asks_what_is_answered_already_does_not_wait(settings: Settings, id: str) -> None:
    """An answer that its own run has not taken up yet counts for every other run that asks the same."""
    assert answer_all(settings, id, "ana", as_model(settings, "sim/panel-c")) == 2
    request = ReviewRequest(data=settings.home.parent / "data.jsonl", panel=PANEL, cycles=3)
    other = asyncio.run(run(METHOD, request, settings=settings))
    with Home.open(settings.home, write=True) as home:
        assert {one.prompt for one in waiting_questions(home, run=other.run)} == {"peer_review"}
        first = next(one.item.id for one in all_standings(home, id))
        assert "a run rests on the answer already" in asyncio.run(undo(home, first, who="ana")).faults


def test_time_is_paid_for_where_a_rate_is_configured(tmp_path: Path) -> None:
    """A reply costs the time from when it was shown, half an hour at most; without a time its cost is unknown, never 0."""
    write_described(tmp_path / "data.jsonl", 3, 0, disputed=0.0)
    settings = _settings(tmp_path, config='[models.expert]\nmodel = "human/ana"\nhourly_rate = 30.0\n')
    panel = ("sim/panel-a", "sim/panel-b", "expert")
    first = asyncio.run(run(METHOD, _request(tmp_path, *panel).model_copy(update={"max_cost": 9.0}), settings=settings))
    shown = ["2026-01-01T10:00:00.000+00:00", "2026-01-01T10:00:00.000+00:00", ""]
    at = ["2026-01-01T10:02:00.000+00:00", "2026-01-02T10:00:00.000+00:00", "2026-01-02T10:00:00.000+00:00"]
    items = _items(settings)
    for item, one, other in zip(items, shown, at, strict=True):
        decide(item, "reply", text="A cat sits.", who="ana", shown=one, at=other, settings=settings)
    asyncio.run(resume(_row(settings, first.run), settings=settings))
    with Home.open(settings.home, write=False) as home:
        keys = [get_question(home, item).key for item in items]
        found = SqliteLedger(home).calls_for(keys)
    assert [found[key].cost for key in keys] == [1.0, 15.0, None]
    assert [found[key].latency for key in keys] == [120.0, 1800.0, None]


def test_what_is_known_of_a_person(tmp_path: Path) -> None:
    """A person sees images, is held to no schema and costs nothing; what only a model has is refused, and so is no name."""
    spec = resolve_model(_settings(tmp_path), "human/ana")
    assert (spec.ref.person, spec.ref.endpoint, spec.capabilities) == ("ana", "human", ("vision",))
    assert (spec.input_price, spec.output_price, spec.transport) == (0.0, 0.0, "human")
    assert resolve_model(_settings(tmp_path), "sim/judge").ref.person == ""
    with pytest.raises(ConfigError, match="a person is called human/NAME"):
        resolve_model(_settings(tmp_path), "human/ana/bert")
    for line in ("api_base = 'http://127.0.0.1/v1'", "api_key_env = 'KEY'", "input_price = 1.0"):
        with pytest.raises(ConfigError, match="is of models, and human/ana is a person"):
            _settings(tmp_path, config=f'[models.expert]\nmodel = "human/ana"\n{line}\n')
    with pytest.raises(ConfigError, match="hourly_rate is of people"):
        _settings(tmp_path, config='[models.judge]\nmodel = "openai/gpt-5"\nhourly_rate = 3.0\n')


def test_an_estimate_counts_questions_apart(tmp_path: Path) -> None:
    """What people are asked is no call and no token; it is told how many questions each has at most."""
    write_described(tmp_path / "data.jsonl", 2, 0, disputed=0.0)
    shown = preview(METHOD, _request(tmp_path), settings=_settings(tmp_path))
    assert (set(shown["models"]), shown["people"]) == ({"sim/panel-a", "sim/panel-b"}, {"human/ana": 10})
    assert shown["calls"] == sum(model["calls"] for model in shown["models"].values())


async def test_a_draft_needs_nobody_to_hold_the_home(settings: Settings) -> None:
    """A reply that is not finished is kept as a file, is where one goes on, and goes once the question is answered."""
    item = _items(settings)[0]
    with Home.open(settings.home, write=False) as home:
        path = Path(keep_draft(home, item, "ana", "A cat"))
        assert draft_of(home, get_question(home, item), "ana") == "A cat"
    with Home.open(settings.home, write=True) as home:
        assert (await answer(home, item, "A cat sits.", who="ana")).done
    assert not path.exists()


def test_a_person_in_nobody_elses_place(tmp_path: Path) -> None:
    """What a person cannot be asked for fails with a sentence: an embedding, and an image that is to be edited."""
    from dokimasia.domain.call import Embedding
    from dokimasia.errors import CallFailed
    from dokimasia.gateway.gateway import ModelGateway
    from dokimasia.storage.memory import MemoryBlobs
    from dokimasia.storage.people.asking import QueuedPeople

    spec = resolve_model(_settings(tmp_path), "human/ana")

    async def asked(home: Home) -> None:
        gateway = ModelGateway(
            ledger=SqliteLedger(home),
            blobs=MemoryBlobs(),
            transports={},
            specs={"human/ana": spec},
            people=QueuedPeople(home, "run", {"human/ana": spec}),
        )
        await gateway.ask(Embedding(model=spec.ref, texts=("a",)))

    with (
        Home.open(tmp_path / "home", write=True) as home,
        pytest.raises(CallFailed, match="a person answers questions"),
    ):
        asyncio.run(asked(home))


def _nobody(messages: Sequence[Message]) -> str:
    raise AssertionError("nobody is asked")


def test_nothing_that_waits_is_nothing_to_answer(settings: Settings, id: str) -> None:
    """Who is not asked has nothing to answer."""
    assert answer_all(settings, id, "bert", _nobody) == 0
