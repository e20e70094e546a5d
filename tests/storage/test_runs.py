"""Runs, samples, results, events, threads and collections are rows that outlast the process."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import pytest
from pydantic import ValidationError

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import value_id
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import InputError, NotFound, StorageError
from dokimasia.storage.criteria import CollectedCriteria, load_collection, save_collection
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels, name_run, resolve_run
from dokimasia.storage.results import (
    ResultRow,
    events,
    get_result,
    record_event,
    record_results,
    reopen,
    result_failures,
    results,
)
from dokimasia.storage.runs import (
    Run,
    SqliteValueStore,
    add_samples,
    create_run,
    get_run,
    list_runs,
    load_samples,
    run_samples,
    set_status,
)
from dokimasia.storage.schema.rows import change_row
from dokimasia.storage.threads import Thread, close_thread, live_threads, open_thread

pytestmark = pytest.mark.quick


def a_run(id: str = "run1", **fields: object) -> Run:
    """Return a run of that id."""
    return Run.model_validate(
        {"id": id, "method": "checkpoint_scoring", "options": {"judge": "J", "k": [1, 2]}, **fields}
    )


def row(item: str, **fields: object) -> ResultRow:
    """Return a scored result row of run1."""
    filled = {"run_id": "run1", "item": item, "kind": "score", "sample_id": "b", "outcome": "scored", "score": 3.5}
    return ResultRow.model_validate(filled | fields)


async def test_a_run_is_accepted_once(home: Home) -> None:
    """The same run twice is one row, which keeps its status and time of acceptance."""
    first, new = await create_run(home, a_run(seed=-5, fresh=2))
    assert new
    assert first.options == {"judge": "J", "k": [1, 2]}
    assert first.created_at
    await set_status(home, "run1", "done")
    again, new = await create_run(home, a_run())
    assert not new
    assert (again.status, again.seed, again.created_at) == ("done", -5, first.created_at)
    assert list_runs(home) == [get_run(home, "run1")]


async def test_an_unknown_run_is_not_found(home: Home) -> None:
    """Reading or changing a run that is not there names it."""
    with pytest.raises(NotFound, match="no run nowhere"):
        get_run(home, "nowhere")
    with pytest.raises(NotFound, match="no run nowhere"):
        await set_status(home, "nowhere", "done")


async def test_a_list_reads_a_run_once_and_again_when_it_changed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second list reads only rows that changed since the first; one that was removed is gone."""
    for number in range(3):
        await create_run(home, a_run(f"listed{number}"))
    first = list_runs(home)
    read: list[str] = []
    rows_among = Home.rows_among

    def noted(self: Home, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[dict[str, object]]:
        read.extend(ids := list(ids))
        return rows_among(self, sql, ids, *parameters)

    monkeypatch.setattr(Home, "rows_among", noted)
    assert list_runs(home) == first
    assert read == []
    await set_status(home, "listed1", "done")
    assert [(run.id, run.status) for run in list_runs(home)] == [
        ("listed2", "interrupted"),
        ("listed1", "done"),
        ("listed0", "interrupted"),
    ]
    assert read == ["listed1"]
    await home.write(lambda connection: connection.execute("DELETE FROM runs WHERE id = 'listed2'"))
    assert [run.id for run in list_runs(home)] == ["listed1", "listed0"]


async def test_readers_see_whether_a_running_run_is_at_work(home: Home) -> None:
    """Running is what the process that holds the home began; what it found so, or what nobody holds, is interrupted."""
    for id in ("before", "now"):
        await create_run(home, a_run(id))
        await set_status(home, id, "running")
    long_ago = {"updated_at": "2020-01-01T00:00:00.000000+00:00"}
    await home.write(lambda connection: change_row(connection, "runs", "before", long_ago))
    home.announce("http://127.0.0.1:1")
    with Home.open(home.path, write=False) as reader:
        held = {run.id: run.status for run in list_runs(reader)}
        assert held == {"before": "interrupted", "now": "running"}
        assert get_run(home, "before").status == "running", "the holder knows itself what it works on"
        home.close()
        assert get_run(reader, "now").status == "interrupted"
        assert {run.status for run in list_runs(reader)} == {"interrupted"}


async def test_a_name_is_the_runs_that_was_given_it_last(home: Home) -> None:
    """Who was given a name loses it to the next, and keeps another one that it was given meanwhile."""
    for id in ("one", "two"):
        await create_run(home, a_run(id))
    for id, name, named in (
        ("one", "a", {"one": "a"}),
        ("one", "b", {"one": "b"}),
        ("two", "a", {"one": "b", "two": "a"}),
        ("two", "b", {"one": "", "two": "b"}),
        ("two", "b", {"one": "", "two": "b"}),
        ("one", "b", {"one": "b", "two": ""}),
    ):
        await name_run(home, id, name, (), force=True)
        assert {run: label.name for run, label in labels(home).items()} == named


async def test_a_name_of_another_run_is_refused(home: Home) -> None:
    """The error names the run that has the name, and nothing changes; the same name again is no conflict."""
    for id in ("first", "second"):
        await create_run(home, a_run(id))
    await name_run(home, "first", "base", ())
    await name_run(home, "first", "base", ("ci",))
    with pytest.raises(InputError, match=r"run first is called 'base' already.*--force"):
        await name_run(home, "second", "base", ("ci",))
    assert labels(home) == {"first": Label("base", ("ci",))}


async def test_a_former_name_that_another_run_gets_is_reported(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """The run that was found by it is named, with what finds it now; its former names are no conflict."""
    for id in ("one", "two"):
        await create_run(home, a_run(id))
    await name_run(home, "one", "first", ())
    await name_run(home, "one", "second", ())
    with caplog.at_level("WARNING"):
        await name_run(home, "two", "first", ())
    assert (
        "run two is called 'first' now, which was a former name of run one; that is found by 'second', and can be given "
        "another: dokimasia runs name one NAME" in caplog.text
    )
    caplog.clear()
    await name_run(home, "two", "first", ())
    assert not caplog.text


async def test_only_additions_to_runs_at_work_are_counted_apart(home: Home) -> None:
    """What a run at work adds counts as an addition; whatever else is written is a change."""
    assert home.stands is not None
    changes, additions = home.stands
    await create_run(home, a_run())
    await set_status(home, "run1", "running")
    assert home.stands == (changes + 2, additions)
    await record_results(home, [row("a")])
    assert home.stands == (changes + 2, additions + 1)
    await reopen(home, "run1")
    assert home.stands == (changes + 3, additions + 1)


async def test_a_prefix_names_one_run(home: Home) -> None:
    """A unique beginning is enough; an ambiguous or unknown one lists what there is."""
    with pytest.raises(NotFound, match="no runs yet"):
        resolve_run(home, "ab")
    for id in ("abc1", "abd2", "ab", "f%0"):
        await create_run(home, a_run(id))
    assert resolve_run(home, "abc").id == "abc1"
    assert resolve_run(home, "ab").id == "ab"
    assert resolve_run(home, "f%").id == "f%0"
    with pytest.raises(NotFound, match=r"3 runs: ab, abc1, abd2\. Write more"):
        resolve_run(home, "a")
    with pytest.raises(NotFound, match=r"begins with '%'.*abc1 \(checkpoint_scoring\)"):
        resolve_run(home, "%")


async def test_samples_keep_their_order(home: Home, sample: Callable[..., Sample]) -> None:
    """A stream of samples is stored in its order, in batches; adding it again changes nothing."""
    await create_run(home, a_run())
    samples = [sample(f"name{(number * 7919) % 1201}", category="c") for number in range(1201)]
    ids = await add_samples(home, "run1", iter(samples))
    assert ids == [value_id(each) for each in samples] == await add_samples(home, "run1", samples)
    places = run_samples(home, "run1")
    assert [(place.position, place.sample_id, place.value_id) for place in places] == [
        (position, each.id, value_id(each)) for position, each in enumerate(samples)
    ]
    assert list(load_samples(home, "run1")) == samples
    assert await SqliteValueStore(home).get(Sample, ids[5]) == samples[5]


async def test_one_name_for_two_samples_is_refused(home: Home, sample: Callable[..., Sample]) -> None:
    """Two samples of one name in a run are an error, and so are samples of a run that does not exist."""
    await create_run(home, a_run())
    with pytest.raises(StorageError, match="UNIQUE"):
        await add_samples(home, "run1", [sample("a"), sample("a", prompt="Other?")])
    with pytest.raises(StorageError, match="FOREIGN KEY"):
        await add_samples(home, "nowhere", [sample("a")])
    assert run_samples(home, "run1") == []


async def test_results_come_in_an_order_of_their_own(home: Home, sample: Callable[..., Sample]) -> None:
    """Results are ordered by the sample's place, then kind, model, arm and repeat, however they arrived."""
    await create_run(home, a_run())
    await add_samples(home, "run1", [sample("b"), sample("a")])
    expected = [
        row("b-m-0"),
        row("b-m-1", repeat=1),
        row("b-m-blind", arm="blind"),
        row("b-n", model="n"),
        row("a", sample_id="a", calls=("k2", "k1"), chain_id="c", reason=None),
        row("z", sample_id="not among the samples", outcome="failed", failure="refused", reason="no", score=None),
    ]
    for each in (expected[position] for position in (5, 3, 1, 0, 4, 2)):
        assert await record_results(home, [each])
    assert results(home, "run1") == expected
    assert [get_result(home, "run1", each.item) for each in expected] == expected
    assert get_result(home, "run1", "absent") is None
    assert results(home, "another") == []


async def test_an_item_keeps_its_first_result(home: Home) -> None:
    """Recording an item twice keeps the first row and says that the second was not new."""
    await create_run(home, a_run())
    assert await record_results(home, [row("i")])
    assert not await record_results(home, [row("i", score=1.0)])
    assert [each.score for each in results(home, "run1")] == [3.5]
    with pytest.raises(StorageError, match="FOREIGN KEY"):
        await record_results(home, [row("i", run_id="nowhere")])


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": "failed", "failure": "refused"},
        {"outcome": "failed", "score": None},
        {"score": None},
        {"failure": "refused"},
        {"outcome": "made"},
        {"score": float("nan")},
    ],
)
def test_a_failure_is_never_a_number(fields: dict[str, object]) -> None:
    """A row with a score and a failure, or with neither where one belongs, cannot be made."""
    with pytest.raises(ValidationError):
        row("i", **fields)


async def test_rows_failed_for_money_reopen(home: Home) -> None:
    """Reopening removes rows that failed as `budget` alone, and keeps what had failed as an event."""
    await create_run(home, a_run())
    failed = {"outcome": "failed", "score": None, "reason": "spent"}
    for item, fields in {"a": {}, "b": failed | {"failure": "budget"}, "c": failed | {"failure": "refused"}}.items():
        await record_results(home, [row(item, **fields)])
    assert result_failures(home, "run1") == {"budget": 1, "refused": 1}
    assert await reopen(home, "run1") == 1
    assert result_failures(home, "run1") == {"refused": 1}
    assert {each.item for each in results(home, "run1")} == {"a", "c"}
    assert [event.data for event in events(home, "run1", kind="reopened")] == [
        {"items": [{"item": "b", "failure": "budget", "reason": "spent"}]}
    ]
    assert await reopen(home, "run1") == 0
    assert await reopen(home, "run1", failures=["refused", "budget"]) == 1
    assert {each.item for each in results(home, "run1")} == {"a"}


async def test_events_keep_their_order(home: Home) -> None:
    """Events come back in the order in which they were recorded, all or of one kind."""
    await create_run(home, a_run())
    for number in range(3):
        await record_event(home, "run1", "even" if number % 2 == 0 else "odd", {"number": number})
    await record_event(home, "run1", "bare")
    assert [(event.kind, event.data) for event in events(home, "run1")] == [
        ("even", {"number": 0}),
        ("odd", {"number": 1}),
        ("even", {"number": 2}),
        ("bare", {}),
    ]
    assert [event.data["number"] for event in events(home, "run1", kind="even")] == [0, 2]


async def test_threads_are_live_until_they_are_closed(home: Home) -> None:
    """A thread is found with its graph's version until it is closed."""
    await create_run(home, a_run())
    thread = Thread(thread_id="t1", run_id="run1", item="i", graph="cognitive_replay", graph_version="1")
    await open_thread(home, thread)
    await open_thread(home, thread.model_copy(update={"graph_version": "2"}))
    assert home.all("SELECT thread_id, graph_version FROM threads") == [("t1", "2")]
    assert live_threads(home) == {"t1"}
    await close_thread(home, "t1")
    await close_thread(home, "t1")
    assert live_threads(home) == set()


async def test_a_collection_is_replaced_whole(home: Home, criteria: CriteriaSet) -> None:
    """A collection is kept whole or not at all; what refers to nothing is refused and leaves the former one."""
    store = SqliteValueStore(home)
    criteria_id = await store.put(criteria)
    chain_id = await store.put(ReferenceChain(reasoning="r", answer="a"))
    first = [CollectedCriteria("b", "d2", criteria_id, chain_id), CollectedCriteria("a", "d1", criteria_id)]
    assert await save_collection(home, "set", first) == 2
    with pytest.raises(StorageError, match="FOREIGN KEY"):
        await save_collection(home, "set", [CollectedCriteria("c", "d3", "unknown")])
    assert load_collection(home, "set") == sorted(first)
    assert await save_collection(home, "set", first[:1]) == 1
    assert load_collection(home, "set") == first[:1]
    assert load_collection(home, "other") == []


async def test_a_recent_value_costs_no_query(home: Home, image: Callable[[bytes], ImageRef]) -> None:
    """What a process has just put it gets without reading; only so many values are remembered."""
    store = SqliteValueStore(home)
    chains = [ReferenceChain(reasoning=f"{number}", answer="a") for number in range(1100)]
    ids = [await store.put(chain) for chain in chains]
    asked: list[str] = []
    home.reader().set_trace_callback(asked.append)
    assert await store.get(ReferenceChain, ids[-1]) is chains[-1]
    assert asked == []
    assert await store.get(ReferenceChain, ids[0]) == chains[0]
    assert len(asked) == 1


async def test_a_row_that_does_not_read_is_named(home: Home) -> None:
    """A damaged row is an error that names table, id, run and the way out."""
    id = await SqliteValueStore(home).put(ReferenceChain(reasoning="r", answer="a"))
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE chains SET answer = ''")
    with pytest.raises(StorageError, match=rf"table chains, id {id} \(run run1\).*Delete the row"):
        await SqliteValueStore(home, "run1").get(ReferenceChain, id)
