"""Two judges on the same answers, two models of one run: what `diff` says agrees with the rows, added up by hand."""

import json
import re
import sqlite3
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.errors import InputError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.evaluation.criteria import export_criteria, import_criteria
from dokimasia.report.fields import as_json
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.methods.conftest import Finished

Requests = Callable[..., EvaluationRequest]
MODELS = ("sim/strong", "sim/weak")


def stored(settings: Settings, run: str, model: str) -> dict[str, tuple[float, list[int], str]]:
    """A model's scores by sample as the database has them, with the criteria's scores and the image's cluster."""
    connection = sqlite3.connect(settings.home / "dokimasia.db")
    rows = connection.execute(
        "SELECT r.sample_id, r.score, j.scores, s.cluster FROM results r JOIN judgements j ON j.id = r.judgement_id "
        "JOIN run_samples s ON s.run_id = r.run_id AND s.sample_id = r.sample_id WHERE r.run_id = ? AND r.model = ?",
        (run, model),
    ).fetchall()
    connection.close()
    return {sample: (score, json.loads(scores), cluster) for sample, score, scores, cluster in rows}


def compared(settings: Settings, first: str, second: str, **options: Any) -> dict[str, Any]:
    with Home.open(settings.home, write=False) as home:
        return as_json(compare_runs(home, get_run(home, first), get_run(home, second), **options))


def sign_flips(sums: list[float]) -> float:
    observed = abs(sum(sums))
    totals = [
        abs(sum(s * one for s, one in zip(signs, sums, strict=True))) for signs in product((1, -1), repeat=len(sums))
    ]
    return sum(total >= observed - 1e-9 for total in totals) / len(totals)


async def test_two_judges_differ_as_their_rows_do(
    settings: Settings, request_of: Requests, tmp_path: Path, finished: Finished
) -> None:
    """With one set of criteria for both: means, differences, p-value, agreement and order agree with a hand computation."""
    made = await finished(request_of(judge="sim/judge", models=MODELS))
    path = tmp_path / "criteria.jsonl"
    with Home.open(settings.home, write=False) as home:
        path.write_bytes(b"".join(await export_criteria(home, get_run(home, made.run))))
    with Home.open(settings.home, write=True) as home:
        collection, _ = await import_criteria(home, path)
    runs = [
        (await evaluate(request_of(judge=judge, criteria=collection), settings=settings)).run
        for judge in ("sim/judge", "sim/judge-noisy")
    ]
    found = compared(settings, *runs)
    assert found["first"]["judge"] == "sim/judge"
    assert found["second"]["judge"] == "sim/judge-noisy"
    assert {one["what"] for one in found["differs"]} == {"judge.model", "judge.name"}
    assert found["simulated"] == ["sim/judge", "sim/judge-noisy", *MODELS]
    assert [one["first_model"] for one in found["pairs"]] == list(MODELS)
    for one in found["pairs"]:
        first, second = (stored(settings, run, one["first_model"]) for run in runs)
        both = sorted(first.keys() & second.keys())
        gaps = {sample: second[sample][0] - first[sample][0] for sample in both}
        assert one["n_paired"] == len(both) >= 12
        assert one["n_shared"] == 14
        assert one["first"] == pytest.approx(sum(first[sample][0] for sample in both) / len(both), abs=1e-6)
        assert one["second"] == pytest.approx(sum(second[sample][0] for sample in both) / len(both), abs=1e-6)
        mean = sum(gaps.values()) / len(both)
        assert one["difference"]["mean"] == pytest.approx(mean, abs=1e-6)
        if one["difference"]["low"] is None:
            assert re.fullmatch(
                r"\d+ clusters nearly alike: the effective number that differ from the median is [01]\.\d, .*",
                one["difference"]["no_interval"],
            )
        else:
            assert one["difference"]["low"] <= mean <= one["difference"]["high"]
        clusters: dict[str, float] = {}
        for sample in both:
            clusters[first[sample][2]] = clusters.get(first[sample][2], 0.0) + gaps[sample]
        assert one["p_value"] == pytest.approx(sign_flips(list(clusters.values())), abs=1e-6)
        pairs = [pair for sample in both for pair in zip(first[sample][1], second[sample][1], strict=True)]
        agreement = one["agreement"]
        assert agreement["criteria"] == len(pairs)
        assert agreement["exact"]["share"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs), abs=1e-6)
        assert agreement["within_one"] == pytest.approx(sum(abs(a - b) <= 1 for a, b in pairs) / len(pairs), abs=1e-6)
        assert one["same_criteria"] == one["same_answers"] == len(both)
        ranked = sorted(
            (sample for sample in both if gaps[sample]), key=lambda sample: (-round(abs(gaps[sample]), 6), sample)
        )
        assert [row["sample"] for row in one["most_changed"]] == ranked[:10]
    assert orjson.dumps(found) == orjson.dumps(compared(settings, *runs))


async def test_two_models_of_one_run(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """Within one run a model is compared with another on the same samples; the judges' agreement has no place there."""
    result = await finished(request_of())
    found = compared(settings, result.run, result.run, models=MODELS, top=3)
    (one,) = found["pairs"]
    assert (one["first_model"], one["second_model"]) == MODELS
    assert one["difference"]["mean"] < 0
    assert one["agreement"] is None
    assert len(one["most_changed"]) == 3
    assert found["differs"] == []
    assert found["unpaired"] == {"first": ["sim/weak"], "second": ["sim/strong"]}


async def test_what_cannot_be_compared_is_said(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """A run with itself, runs without a common model, and a model that is not there name what there is."""
    strong = (await finished(request_of(models=("sim/strong",), limit=3))).run
    weak = (await evaluate(request_of(models=("sim/weak",), limit=3), settings=settings)).run
    with pytest.raises(InputError, match=r"does not differ from itself; compare two of its models.*sim/strong"):
        compared(settings, strong, strong)
    with pytest.raises(InputError, match=r"no model is in both runs: .* has sim/strong; .* has sim/weak"):
        compared(settings, strong, weak)
    with pytest.raises(InputError, match=r"has no results of 'sim/best'; it has those of sim/weak"):
        compared(settings, strong, weak, models=("sim/strong", "sim/best"))
    with pytest.raises(InputError, match="name two models"):
        compared(settings, strong, strong, models=("sim/strong", "sim/strong"))
    pair = compared(settings, strong, weak, models=("sim/strong", "sim/weak"))["pairs"][0]
    assert pair["n_shared"] == 3


async def test_runs_without_a_common_sample_are_not_compared(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Where no sample of the one run is in the other, there is no difference to print but an error."""
    first = (await finished(request_of(models=("sim/strong",), limit=3))).run
    data = request_of().data
    row = json.loads(data.read_text().splitlines()[0])
    other = data.with_name("another-question.jsonl")
    other.write_text(json.dumps({**row, "prompt": "Another question?"}) + "\n")
    second = (await evaluate(request_of(data=other, models=("sim/strong",)), settings=settings)).run
    with pytest.raises(InputError, match="have no sample in common"):
        compared(settings, first, second)


async def test_what_differs_is_named(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """Options that differ are listed by name, models that only one run has are not options."""
    first = (await finished(request_of(models=MODELS, limit=3))).run
    second = (await evaluate(request_of(models=("sim/weak",), limit=4, show_image=True), settings=settings)).run
    found = compared(settings, first, second)
    assert {one["what"]: (one["first"], one["second"]) for one in found["differs"] if one["what"] != "data"} == {
        "limit": (3, 4),
        "show_image": (False, True),
    }
    assert found["unpaired"] == {"first": ["sim/strong"], "second": []}
    assert found["pairs"][0]["lost"]["only in the second run"] == 1
