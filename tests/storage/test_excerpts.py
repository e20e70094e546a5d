"""A few samples of a run with all that came of them, and what failed in it."""

from typing import Any

from dokimasia.domain.sample import Sample
from dokimasia.storage.excerpts import failed_samples, failure_reasons, rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, record_results, results
from dokimasia.storage.runs import Run, add_samples, create_run


async def fill(home: Home) -> None:
    """A run of five samples: one without criteria, one with a refused answer, and another run beside it."""
    for run in ("run", "other"):
        await create_run(home, Run(id=run, method="evaluate"))
        await add_samples(home, run, [Sample(id=f"s{number}", prompt=f"{run}?") for number in range(5)])
    rows: list[dict[str, Any]] = [
        {"item": "replay/s1", "kind": "replay", "sample_id": "s1", "failure": "unparsable", "reason": "no list"},
        *(
            {"item": f"score/s1/{model}", "kind": "score", "sample_id": "s1", "model": model, "failure": "unparsable"}
            | {"reason": "no criteria for this sample: no list"}
            for model in ("b", "a")
        ),
        {"item": "score/s2/b", "kind": "score", "sample_id": "s2", "model": "b", "score": 2.0},
        {"item": "score/s2/a", "kind": "score", "sample_id": "s2", "model": "a", "failure": "refused", "reason": "no"}
        | {"criteria_id": "c"},
    ]
    for row in rows:
        outcome = "failed" if "failure" in row else "scored"
        await record_results(home, [ResultRow.model_validate({"run_id": "run", "outcome": outcome, **row})])


async def test_failures_by_sample_and_by_kind(home: Home) -> None:
    """A sample failed if anything of it did; a kind's reason is the failure's own, not that of answers never asked for."""
    await fill(home)
    assert failed_samples(home, "run") == {"s1", "s2"}
    assert failed_samples(home, "other") == set()
    assert failure_reasons(home, "run") == {"unparsable": "no list", "refused": "no"}


async def test_some_samples_with_their_rows(home: Home) -> None:
    """What is asked for comes, of that run only, each sample's rows in the order of `results`."""
    await fill(home)
    assert {id: sample.prompt for id, sample in samples_of(home, "run", ["s4", "s2"]).items()} == {
        "s4": "run?",
        "s2": "run?",
    }
    assert samples_of(home, "run", []) == {}
    found = rows_of(home, "run", ["s1", "s2", "s3"])
    assert [row for id in ("s1", "s2") for row in found[id]] == results(home, "run")
    assert "s3" not in found


async def test_many_samples_are_read_in_pieces(home: Home) -> None:
    """More names than a query takes are no trouble."""
    await create_run(home, Run(id="run", method="evaluate"))
    await add_samples(home, "run", [Sample(id=f"s{number}") for number in range(950)])
    assert len(samples_of(home, "run", [f"s{number}" for number in range(950)])) == 950
