"""A probe of judges from its request to its rows: how judges are asked, what is shared, what fails, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.planted_perturbations import write_perturbations
from dokimasia.cli.main import run
from dokimasia.domain.call import Chat, ModelCall
from dokimasia.domain.look import Look
from dokimasia.errors import ConfigError, DataError, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.probe import METHOD, ProbeRequest, detections_of, probe
from dokimasia.methods.probe.passports import material_of
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.people.passports import passport_of
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.plans import as_configured_now
from dokimasia.runs.preview import prepare
from dokimasia.runs.session import Accepted
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run
from tests.looks import made_once

PLANTED = ("numerical_errors", "entity_substitution", "score_neutral")


def settings_of(folder: Path, config: str = "") -> Settings:
    """Settings of a home in a folder."""
    (folder / "dokimasia.toml").write_text(config)
    return load_settings(config=folder / "dokimasia.toml", home=folder / "home", env={})


def request_of(folder: Path, *judges: str, **fields: Any) -> ProbeRequest:
    """A request over a small file of perturbations, which is written where it is not there."""
    data = folder / "items.jsonl"
    if not data.exists():
        write_perturbations(data, 2, dimensions=PLANTED)
    return ProbeRequest.model_validate({"data": data, "judges": judges, "unchecked": True, **fields})


def probed(folder: Path, *judges: str, transport: Any = None, **fields: Any) -> tuple[RunResult, Settings]:
    """A finished probe."""
    settings = settings_of(folder)
    transports = None if transport is None else {"sim": transport}
    request = request_of(folder, *judges, **fields)
    return asyncio.run(probe(request, settings=settings, transports=transports)), settings


def test_judges_are_sampled_as_published_unless_the_configuration_says_otherwise(tmp_path: Path) -> None:
    """Temperature 0 and high effort where nothing is configured; each budget is an arm; evaluators in use ask as configured."""
    settings = settings_of(
        tmp_path,
        '[models.own]\nmodel = "sim/judge"\ntransport = "sim"\n[models.own.sampling]\ntemperature = 0.7\nmax_tokens = 900\n',
    )
    request = request_of(tmp_path, "sim/judge-lenient", "own", evaluators=("reference", "checkpoints"))
    plan = asyncio.run(prepare(METHOD, request, settings=settings)).plan
    plain, own = (spec.sampling for spec in plan.judges)
    assert (plain.temperature, plain.reasoning_effort) == (0.0, "high")
    assert (own.temperature, own.reasoning_effort, own.max_tokens) == (0.7, "high", 900)
    assert [spec.sampling.reasoning_effort for spec in plan.in_use] == [None, None]
    request = request.model_copy(update={"budgets": ("low", "high"), "tools": ("zoom",), "temperature": 0.2})
    plan = asyncio.run(prepare(METHOD, request, settings=settings)).plan
    assert [(arm.name, arm.judge, arm.budget, arm.tools) for arm in plan.arms][:4] == [
        ("sim/judge-lenient@low", "sim/judge-lenient", "low", False),
        ("sim/judge-lenient@low+tools", "sim/judge-lenient", "low", True),
        ("sim/judge-lenient@high", "sim/judge-lenient", "high", False),
        ("sim/judge-lenient@high+tools", "sim/judge-lenient", "high", True),
    ]
    asked = [(spec.sampling.temperature, spec.sampling.reasoning_effort) for spec in (*plan.judges, *plan.in_use)]
    assert asked == [(0.2, "low"), (0.2, "high")] * 4
    own = request.model_copy(update={"sampling": "own", "budgets": (), "temperature": None})
    plan = asyncio.run(prepare(METHOD, own, settings=settings)).plan
    assert plan.judges[0].sampling == plan.in_use[0].sampling


def test_a_judge_under_a_budget_is_reached_as_the_configuration_says_now(tmp_path: Path) -> None:
    """A change of address after acceptance holds for every way in which a judge is asked, and its sampling stays."""
    table = '[models.own]\nmodel = "openai/x"\nendpoint = "e"\napi_base = "http://127.0.0.1:{}/v1"\n'
    settings = settings_of(tmp_path, table.format(1))
    request = request_of(tmp_path, "own", budgets=("low",))
    plan = asyncio.run(prepare(METHOD, request, settings=settings)).plan
    (spec,) = as_configured_now(plan, settings_of(tmp_path, table.format(2))).judges
    assert (spec.ref.name, spec.api_base) == ("own@low", "http://127.0.0.1:2/v1")
    assert spec.sampling == plan.judges[0].sampling


def test_a_gold_answer_is_judged_once_for_all_its_items(tmp_path: Path) -> None:
    """Under one evaluator each gold answer is scored once and once more, and each item once; pairs are asked in both orders."""
    counting = CountingTransport(SimTransport())
    done, _ = probed(tmp_path, "sim/judge", transport=counting, evaluators=("single-vanilla", "pairwise-vanilla"))
    items = sum(done.summary["probes"][name] for name in ("errors", "neutral"))
    golds = 2
    assert len(counting.sent) == (2 * golds + items) + (golds + 2 * items)
    assert {call.sampling.temperature for call in counting.sent if isinstance(call, Chat)} == {0.0}
    assert sorted({call.repeat for call in counting.sent}) == [0, 1]


def test_a_subsample_is_drawn_with_the_seed_among_the_first_samples(tmp_path: Path) -> None:
    """As over a data set: balanced over categories, from the samples that the limit leaves, others with another seed."""
    items = tmp_path / "items.jsonl"
    write_perturbations(items, 12, dimensions=("numerical_errors",))

    def planned(**fields: Any) -> Accepted[ProbePlan]:
        request = request_of(tmp_path, "sim/judge", **fields).model_copy(update={"data": items})
        return asyncio.run(prepare(METHOD, request, settings=settings_of(tmp_path)))

    first = planned(subsample=3, limit=8)
    assert first.estimate.samples == 3
    assert planned(subsample=3, limit=8).plan == first.plan
    assert planned(subsample=3).plan.data not in (first.plan.data, planned(limit=3).plan.data)
    assert len({planned(subsample=3, limit=8, seed=seed).plan.data for seed in range(4)}) > 1
    assert planned(subsample=12).plan == planned().plan


def test_those_in_use_ask_what_an_evaluation_asks(tmp_path: Path) -> None:
    """Criteria, scores by them and decisions on right and wrong that an evaluation paid for are not asked again."""
    items = tmp_path / "items.jsonl"
    write_perturbations(items, 2, dimensions=("numerical_errors", "score_neutral"))
    rows = [row | {"reference_answer": row["gold"]} for row in map(orjson.loads, items.read_text().splitlines())]
    items.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    fields = ("image", "prompt", "reference_answer")
    samples = {row["sample"]: {"id": row["sample"], **{name: row[name] for name in fields}} for row in rows}
    answers = [{"id": row["sample"], "model": row["dimension"], "response": row["perturbed"]} for row in rows]
    answers += [{"id": id, "model": "gold", "response": one["reference_answer"]} for id, one in samples.items()]
    data, responses = tmp_path / "data.jsonl", tmp_path / "responses.jsonl"
    data.write_bytes(b"\n".join(map(orjson.dumps, samples.values())))
    responses.write_bytes(b"\n".join(map(orjson.dumps, answers)))
    settings = settings_of(tmp_path)
    asked = EvaluationRequest(data=data, judge="sim/judge", responses=(responses,))
    asyncio.run(evaluate(asked, settings=settings))
    counting = CountingTransport(SimTransport())
    request = request_of(tmp_path, "sim/judge", evaluators=("checkpoints", "right-or-wrong"), retests=0)
    done = asyncio.run(probe(request, settings=settings, transports={"sim": counting}))
    assert done.complete
    assert len(counting.sent) == len(samples), "of gold answers a rule had decided that they are right"


def test_gated_judging_makes_must_right_rubrics_of_the_gold_answer(tmp_path: Path) -> None:
    """The gold answer passes its own rubrics more often than an answer with an error does, and nothing else is asked for."""
    done, settings = probed(tmp_path, "sim/judge", evaluators=("gated",))
    with Home.open(settings.home, write=False) as home:
        found = detections_of(home, get_run(home, done.run))
        rows = results(home, done.run)
    assert {row.kind for row in rows} == {"basis", "probe"}
    assert all(one.equal == 1 for one in found if one.case == "retest")
    assert any(one.undetected == 0 for one in found if one.case == "error")


def test_where_the_gold_judgement_failed_nothing_is_held_against_it(tmp_path: Path) -> None:
    """A failed judgement is no number: its items fail with its reason, are not asked, and count in no share."""

    def refuse(call: ModelCall) -> TransportError | None:
        gold = isinstance(call, Chat) and rows[0]["gold"] in call.messages[-1].text
        return TransportError("bad_request", "it does not fit", retryable=False, status=400) if gold else None

    request = request_of(tmp_path, "sim/judge", evaluators=("single-vanilla",))
    rows = [orjson.loads(line) for line in request.data.read_text().splitlines()]
    settings = settings_of(tmp_path)
    counting = CountingTransport(SimTransport(), fail=refuse)
    done = asyncio.run(probe(request, settings=settings, transports={"sim": counting}))
    first = {row["id"] for row in rows if row["sample"] == rows[0]["sample"]}
    with Home.open(settings.home, write=False) as home:
        found = {one.item: one for one in detections_of(home, get_run(home, done.run))}
    lost = [found[id] for id in first]
    assert all(one.failure == "api_error" and one.undetected is None and one.equal is None for one in lost)
    assert not any(one.asked for one in lost)
    (gold,) = [one for one in found.values() if one.case == "gold" and one.failure]
    assert gold.asked
    whole = done.summary["tasks"]["image-to-text"]["judges"]["sim/judge"]["evaluators"]["single-vanilla"]
    assert whole["undetected"]["n"] > whole["undetected"]["n_scored"]
    assert whole["failures"] == {"api_error": 1}
    assert whole["unasked"] == len(first) + request.retests
    assert whole["gold"]["n"] == whole["gold"]["n_scored"] + 1
    with Home.open(settings.home, write=False) as home:
        (replies,) = passport_of(material_of(home, "sim/judge")).replies
    assert replies.failures == {"api_error": 1}
    assert replies.unasked == whole["unasked"]
    assert replies.n == len(found) - replies.unasked


def test_an_endpoint_that_refuses_the_published_sampling_is_told_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal names `--sampling own` and `show --sample` gives the endpoint's words; asked so, nothing fails."""

    def refuse(call: ModelCall) -> TransportError | None:
        hot = isinstance(call, Chat) and call.sampling.temperature is not None
        return TransportError("bad_request", "temperature is not taken", retryable=False, status=400) if hot else None

    way: dict[str, Any] = {
        "evaluators": ("single-vanilla",),
        "transport": CountingTransport(SimTransport(), fail=refuse),
    }
    done, settings = probed(tmp_path, "sim/judge", **way)
    rows = [orjson.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    home = ["--home", str(settings.home)]
    assert run(["show", done.run, *home]) == 0
    assert "--sampling own" in capsys.readouterr().out
    assert run(["show", done.run, "--sample", rows[0]["sample"], *home]) == 0
    assert "temperature is not taken" in " ".join(capsys.readouterr().out.split())
    own, _ = probed(tmp_path, "sim/judge", sampling="own", **way)
    assert own.complete
    assert run(["show", own.run, *home]) == 0
    assert "Failed judgements" not in capsys.readouterr().out


def test_with_tools_a_near_sighted_judge_finds_what_is_small(tmp_path: Path) -> None:
    """It misses errors in small text and small things without tools and finds them with, by looks that are kept."""
    write_perturbations(
        tmp_path / "items.jsonl", 8, dimensions=("misread_key_elements", "numerical_errors", "entity_substitution")
    )
    with made_once():
        done, settings = probed(tmp_path, "sim/judge-nearsighted", evaluators=("single-vanilla",), tools=("zoom",))
    judges = done.summary["tasks"]["image-to-text"]["judges"]
    without, with_tools = (
        judges[name]["evaluators"]["single-vanilla"]["undetected"]["share"]
        for name in ("sim/judge-nearsighted", "sim/judge-nearsighted+tools")
    )
    assert with_tools < without
    assert with_tools <= 0.1
    with Home.open(settings.home, write=False) as home:
        looked = [row for row in results(home, done.run) if len(row.value_ids) > 1]
        looks = find_values(home, Look, [id for row in looked for id in row.value_ids[1:]])
    assert {row.arm for row in looked} == {"tools"}
    assert any(look.regions and not look.failed for look in looks.values())
    (beside,) = done.summary["tasks"]["image-to-text"]["tools"]
    assert len(beside["arms"]) == 2


def test_a_reader_says_what_justifications_name_and_where_it_is_wrong(tmp_path: Path) -> None:
    """Errors that go unscored and are named are counted, and what is named of unchanged answers stands beside."""
    done, settings = probed(tmp_path, "sim/judge-names-only", evaluators=("single-vanilla",), reader="sim/judge-sharp")
    with Home.open(settings.home, write=False) as home:
        found = detections_of(home, get_run(home, done.run))
    missed = [one for one in found if one.case == "error" and one.undetected]
    assert missed
    assert any(one.named == 1 for one in missed)
    assert all(one.named is not None for one in found if one.case != "gold")
    assert all(one.named == 0 for one in found if one.case not in ("error", "gold"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"evaluators": ("atoms",)}, "there is no evaluator 'atoms'"),
        ({"budgets": ("low", "low")}, "`budgets` names low twice"),
        ({"budgets": ("9",)}, "'9' is no reasoning effort"),
        ({"evaluators": ("single",), "new_references": "sim/tutor"}, "`new_references` are for the evaluator"),
        ({"tools": ("tong",)}, "no tool is called 'tong'"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    """What there is not is named, with a way out, before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        probed(tmp_path, "sim/judge", **fields)


@pytest.mark.parametrize("fields", [{"evaluators": ("foo",)}, {"budgets": ("9",)}, {"tools": ("xray",)}])
def test_wrong_options_are_told_before_data_that_cannot_be_read(tmp_path: Path, fields: dict[str, Any]) -> None:
    """A file at fault hides no option at fault."""
    (tmp_path / "items.jsonl").write_text("no perturbation\n")
    request = request_of(tmp_path, "sim/judge", **fields)
    with pytest.raises(ConfigError):
        asyncio.run(prepare(METHOD, request, settings=settings_of(tmp_path)))


def test_images_have_the_nine_alone(tmp_path: Path) -> None:
    """Evaluators of texts are refused for images with the reason; `all` means those that the task has."""
    write_perturbations(tmp_path / "items.jsonl", 2, task="text-to-image", dimensions=("overcrowding",))
    with pytest.raises(ConfigError, match="gated is how evaluate and audit judge texts"):
        probed(tmp_path, "sim/judge", evaluators=("gated",))
    plan = asyncio.run(
        prepare(METHOD, request_of(tmp_path, "sim/judge", evaluators=("all",)), settings=settings_of(tmp_path))
    ).plan
    assert len(plan.evaluators) == 9


def test_what_nobody_decided_on_needs_a_word(tmp_path: Path) -> None:
    """Without --unchecked, perturbations that nobody labelled do not enter, and the error says how they would."""
    with pytest.raises(DataError, match="`unchecked`"):
        probed(tmp_path, "sim/judge", unchecked=False)


def test_new_references_are_judged_by_beside_the_gold_ones(tmp_path: Path) -> None:
    """A text is written anew, an image made anew of the gold one; both stand beside the original reference."""
    write_perturbations(tmp_path / "items.jsonl", 2, task="text-to-image", dimensions=("overcrowding", "score_neutral"))
    for folder, writer in ((tmp_path, "sim/editor"), (tmp_path / "texts", "sim/tutor")):
        folder.mkdir(exist_ok=True)
        done, settings = probed(folder, "sim/judge", evaluators=("reference",), new_references=writer)
        with Home.open(settings.home, write=False) as home:
            found = detections_of(home, get_run(home, done.run))
            rows = results(home, done.run)
        assert [row.model for row in rows if row.kind == "basis"] == [writer] * 2
        by = {new: [one.item for one in found if one.new_reference is new] for new in (False, True)}
        assert by[True] == by[False]
        assert all(not one.failure for one in found)


def test_before_anything_is_sent_the_estimate_says_what_is_doubtful(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold answers in which a dimension cannot work are named by sample and dimension, and looks are counted at most."""
    path = tmp_path / "items.jsonl"
    write_perturbations(path, 2, dimensions=("numerical_errors", "detail_omission"))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    short = next(row for row in rows if row["dimension"] == "detail_omission") | {"gold": "Two.", "perturbed": "Some."}
    path.write_bytes(b"\n".join(map(orjson.dumps, [*rows, short | {"id": "brief", "sample": "brief"}])))
    options = ["--judges", "sim/judge", "--unchecked", "--tools", "zoom", "--dry-run", "--home", str(tmp_path / "home")]
    assert run(["probe", str(path), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 of the gold answers has too few words for their dimension, which cannot work on them: brief" in said
    assert "(detail_omission)" in said
    assert "with tools every look that --looks allows is counted" in said
