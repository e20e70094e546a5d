"""Criteria that a question needs and no others: over whole runs of judges that invent some, ours and as published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.cli.drawing import print_sample
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.methods.evaluation.criteria import export_criteria, import_criteria
from dokimasia.report.document import render_document
from dokimasia.runs.preview import preview
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.runs.reading.reporting import run_data
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import SqliteValueStore, get_run, load_samples

Requests = Callable[..., EvaluationRequest]
INVENTIVE = "sim/judge-inventive"


async def sets_of(settings: Settings, run: str) -> dict[str, CriteriaSet]:
    """A run's criteria by the sample's question."""
    with Home.open(settings.home, write=False) as home:
        asked = {sample.id: sample.prompt for sample in load_samples(home, run)}
        store = SqliteValueStore(home, run)
        made = [row for row in results(home, run) if row.kind == "replay" and row.criteria_id]
        return {asked[row.sample_id]: await store.get(CriteriaSet, row.criteria_id or "") for row in made}


async def test_the_second_look_catches_what_an_inventive_judge_invents(
    settings: Settings, request_of: Requests
) -> None:
    """What a judge adds beside the planted steps is left out and on record; the scores are those of a judge who adds
    nothing."""
    asked = request_of(judge=INVENTIVE, models=("sim/strong",))
    result = await evaluate(asked, settings=settings)
    sets = await sets_of(settings, result.run)
    invented = {question: one for question, one in sets.items() if one.faults}
    assert 3 <= len(invented) < len(sets) == 14
    for one in sets.values():
        assert one.checked
        assert sum(one.weights) == 10
        assert {(fault.defect, fault.became) for fault in one.faults} <= {("unnecessary", "dropped")}
    plain = await evaluate(
        request_of(judge="sim/judge", models=("sim/strong",)), settings=Settings(home=settings.home.with_name("plain"))
    )
    honest = await sets_of(Settings(home=settings.home.with_name("plain")), plain.run)
    for question, one in sets.items():
        assert [point.question for point in one.criteria] == [point.question for point in honest[question].criteria]


async def test_as_published_they_stay(settings: Settings, request_of: Requests) -> None:
    """Without the second look the incidental criteria count, and cost an answer that does not speak of them its score."""
    asked = request_of(judge=INVENTIVE, models=("sim/strong",), protocol="published")
    result = await evaluate(asked, settings=settings)
    sets = await sets_of(settings, result.run)
    assert not any(one.checked or one.faults for one in sets.values())
    assert any(len(one.criteria) > 3 and one.criteria[0].weight == 2 for one in sets.values())
    with Home.open(settings.home, write=False) as home:
        labels = {label for (label,) in home.all("SELECT DISTINCT label FROM calls")}
    assert "criteria_published" in labels
    assert not labels & {"criteria", "criteria_check"}


async def test_a_number_of_criteria_can_be_asked_for(settings: Settings, request_of: Requests) -> None:
    """`--criteria-count` holds for every sample, is part of what a run is, and is refused where it cannot be."""
    result = await evaluate(
        request_of(judge="sim/judge", models=("sim/strong",), criteria_count="1-3"), settings=settings
    )
    assert {len(one.criteria) for one in (await sets_of(settings, result.run)).values()} == {3}
    other = await evaluate(request_of(judge="sim/judge", models=("sim/strong",)), settings=settings)
    assert other.run != result.run
    for wrong in ("0-3", "4-2", "many", "1-9"):
        with pytest.raises(InputError, match="criteria_count"):
            await evaluate(request_of(criteria_count=wrong), settings=settings)
    with pytest.raises(ConfigError, match="as published a sample has 3 to 5"):
        await evaluate(request_of(criteria_count="1-5", protocol="published"), settings=settings)


async def test_files_carry_the_final_answer_and_the_look(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """An exported set comes back as it was; one of an earlier form is read, and a rule finds its final answer."""
    result = await evaluate(request_of(judge=INVENTIVE, models=("sim/strong",)), settings=settings)
    with Home.open(settings.home, write=False) as home:
        lines = [orjson.loads(line) for line in await export_criteria(home, get_run(home, result.run))]
    assert {line["format"] for line in lines} == {"dokimasia-criteria/2"}
    assert any(fault["became"] == "dropped" for line in lines for fault in line["criteria"]["faults"])
    now, before = tmp_path / "now.jsonl", tmp_path / "before.jsonl"
    now.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    older = [_as_before(line) for line in lines]
    before.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in older))
    with Home.open(tmp_path / "other", write=True) as home:
        collections = [(await import_criteria(home, path))[0] for path in (now, before)]
        stored = [CriteriaSet.model_validate_json(body) for (body,) in home.all("SELECT body FROM criteria_sets")]
    assert collections[0] != collections[1]
    assert any(one.checked and one.faults for one in stored)
    by_rule = [one for one in stored if not one.checked]
    assert len(by_rule) == len(lines)
    assert [
        one.criteria[0].final
        for one in by_rule
        if one.criteria[0].question == older[0]["criteria"]["criteria"][0]["question"]
    ]


def _as_before(line: dict[str, Any]) -> dict[str, Any]:
    """A line as it was written before sets said which criterion is the final answer; the first one is, by its words."""
    old = [
        {key: one[key] for key in ("question", "ground_truth", "weight", "anchor")}
        for one in line["criteria"]["criteria"]
    ]
    old[0]["ground_truth"] = line["chain"]["answer"]
    old[0]["question"] = "What does all that come to?"
    return {**line, "format": "dokimasia-criteria/1", "criteria": {"criteria": old, "repaired": False}}


def test_a_dry_run_counts_the_second_look_and_shows_its_prompt(settings: Settings, request_of: Requests) -> None:
    """One call a sample more than as published, where its prompt is not shown."""
    ours = preview(METHOD, request_of(judge="sim/judge"), settings=settings)
    published = preview(METHOD, request_of(judge="sim/judge", protocol="published"), settings=settings)
    assert ours["models"]["sim/judge"]["calls"] - published["models"]["sim/judge"]["calls"] == 14
    assert {"criteria", "criteria_check"} <= set(ours["prompts"])
    assert "criteria_published" in published["prompts"]
    assert not {"criteria", "criteria_check"} & set(published["prompts"])


async def test_what_was_found_is_in_the_figures_and_on_the_page(
    settings: Settings, request_of: Requests, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many criteria there are, how often the final answer is all, and what a second look found, counted and drawn."""
    result = await evaluate(request_of(judge=INVENTIVE, models=("sim/strong",)), settings=settings)
    sets = await sets_of(settings, result.run)
    figures = result.summary["criteria"]
    assert (figures["sets"], figures["checked"]) == (14, 14)
    assert figures["points"] == pytest.approx(sum(len(one.criteria) for one in sets.values()) / 14, abs=1e-6)
    assert figures["only_final"] == {"k": 0, "n": 14, "share": 0.0, "low": 0.0, "high": figures["only_final"]["high"]}
    found = sum(len(one.faults) for one in sets.values())
    assert figures["faults"] == {"unnecessary": {"mended": 0, "dropped": found, "left": 0}}
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        page = render_document(run_data(home, run))
        faulty = next(sample.id for sample in load_samples(home, run.id) if sets[sample.prompt].faults)
        view = await sample_of_run(home, run, faulty)
    assert "the answer does not rest on it" in page
    print_sample(METHOD.report.drawing(), faulty, view)
    assert "dropped: unnecessary" in capsys.readouterr().out
