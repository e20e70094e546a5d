"""Failure modes on planted worlds: what is planted is recovered and counted; what coders get wrong is no count of anything."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from dokimasia.domain.call import Chat, ModelCall
from dokimasia.domain.judgement import Response
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.diagnosis import WordsRequest, diagnosis_of, gather, write_diagnosis
from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.methods.fingerprints.trials import restricted
from dokimasia.methods.modes import METHOD, NO_MODE, ModesRequest, coded_of, find_modes
from dokimasia.methods.modes.figures import ModesFigures
from dokimasia.methods.modes.report import conclusion
from dokimasia.methods.modes.request import draw
from dokimasia.prompts import recognise
from dokimasia.report.blocks import plain
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.reporting import render, report_data
from dokimasia.settings import Settings
from dokimasia.simulation.judging.modes import MODES, mode_by_name, planted_mode
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run, load_samples
from tests.methods.conftest import Finished

SAMPLES = 42
MODELS = ("sim/strong", "sim/weak", "sim/hasty")


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of forty-two questions of the planted world."""
    path = tmp_path_factory.mktemp("modes") / "world.jsonl"
    write_world(path, SAMPLES, 5)
    return path


@pytest.fixture
def evaluated(large: Path, finished: Finished) -> Callable[[], Any]:
    """Puts the evaluation of three models into the test's home, by a judge without faults."""
    request = EvaluationRequest.model_validate({"data": large, "judge": "sim/judge", "models": MODELS})
    return lambda: finished(request)


async def analysed(
    run: RunResult, settings: Settings, *, watched: CountingTransport | None = None, **fields: Any
) -> RunResult:
    request = ModesRequest.model_validate({"run": run.run, "judge": "sim/judge", **fields})
    services = {} if watched is None else {"transports": {"sim": watched}}
    return await find_modes(request, settings=settings, **services)


def planted(settings: Settings, run: str) -> tuple[Counter[str], Counter[str]]:
    """What is planted in the atoms that were drawn: failed ones by the mode's key, met ones that fail all the same.

    It is read off the answers' own sentences, which the world knows, and not off anything that a judge said.
    """
    steps = {(question.id, one.question): one for _, question in make_world(SAMPLES, 5) for one in question.steps}
    failed: Counter[str] = Counter()
    met: Counter[str] = Counter()
    with Home.open(settings.home, write=False) as home:
        coded = coded_of(home, get_run(home, run))
        texts = find_values(home, Response, (one.answer.response for one in coded.atoms))
    for one in coded.atoms:
        step = steps[one.answer.sample_id, coded.criterion(one).question]
        said = texts[one.answer.response].text
        if any(wrong in said for wrong in step.wrong):
            outcome = planted_mode(step.capability, "wrong")
        elif step.statement not in said:
            outcome = planted_mode(step.capability, "omitted")
        elif f"not sure: {step.statement}" in said:
            outcome = planted_mode(step.capability, "hedged")
        else:
            outcome = "right"
        (failed if one.failed else met)[outcome] += 1
    return failed, met


async def test_planted_modes_are_recovered_and_counted(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """Every planted way of failing that two notes tell of is a mode of its kind, and its count is what is planted."""
    found = (await analysed(await evaluated(), settings)).summary
    failed, met = planted(settings, found["run"])
    counts = {mode_by_name(one["name"]): one["failed"]["k"] for one in found["modes"]}
    assert None not in counts
    assert {one["kind"] for one in found["modes"]} == {"commission", "omission"}
    assert all(one["kind"] == MODES[mode_by_name(one["name"]) or ""].kind for one in found["modes"])
    assert counts == {key: failed[key or ""] for key in counts}
    assert found["none"]["failed"]["k"] == sum(count for key, count in failed.items() if key not in counts)
    assert sum(counts.values()) > 0.9 * sum(failed.values())
    assert set(met) == {"right"}
    assert all(one["met"]["k"] == 0 for one in found["modes"])
    assert found["making"]["settled"]
    assert found["agreement"]["kappa"] == 1
    for one in found["modes"]:
        assert sum(share["k"] for share in one["models"].values()) == one["failed"]["k"]
        assert one["failed"]["low"] <= one["failed"]["share"] <= one["failed"]["high"]


async def test_quotes_stand_in_the_answers_and_modes_are_counted_on_other_images(
    settings: Settings, evaluated: Callable[[], Any]
) -> None:
    """No image is on both sides; each commission is shown with the answer's own words, an omission with none."""
    run = (await analysed(await evaluated(), settings)).run
    with Home.open(settings.home, write=False) as home:
        coded = coded_of(home, get_run(home, run))
        texts = find_values(home, Response, (one.answer.response for one in coded.atoms))
    assert not {one.cluster for one in coded.drawn.making} & {one.cluster for one in coded.drawn.counting}
    kinds = {one.name: one.kind for one in coded.modes}
    seen = [one for one in coded.atoms if one.coding is not None and one.mode is not None]
    for one in seen:
        assert one.coding is not None
        assert bool(one.coding.quote) == (kinds[one.mode or ""] == "commission")
        assert one.coding.quote in " ".join(texts[one.answer.response].text.split())
        assert one.number not in one.answer.silent or kinds[one.mode or ""] == "omission"
    assert {kinds[one.mode or ""] for one in seen} == {"commission", "omission"}


async def test_readers_are_told_no_score_no_model_and_no_group(
    settings: Settings, evaluated: Callable[[], Any]
) -> None:
    """What a reader is shown is question, image, points with their truth, answer and modes; met and failed points are mixed."""
    watched = CountingTransport(SimTransport())
    await analysed(await evaluated(), settings, watched=watched)
    shown: dict[str, set[str]] = {}
    firsts: list[str] = []
    for call in watched.sent:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        assert request is not None
        shown.setdefault(request.name, set()).update(request.inputs)
        text = "\n".join(message.text for message in call.messages)
        assert not any(model in text for model in MODELS)
        for row in orjson.loads(request.inputs.get("points", "[]")):
            assert set(row) == {"n", "point", "truth"}
        if request.name in ("modes_note", "modes_assign"):
            assert request.images
            firsts.append(orjson.loads(request.inputs["points"])[0]["point"])
    answered = {"question", "points", "answer"}
    assert shown["modes_note"] - {"choices"} == answered
    assert shown["modes_assign"] - {"choices"} == {*answered, "modes"}
    assert shown["modes_sort"] == {"modes", "notes"}
    steps = {question.steps[0].question for _, question in make_world(SAMPLES, 5)}
    assert not set(firsts) <= steps


async def test_a_coder_at_random_agrees_by_chance(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """The kappa of a coder who names any mode is near 0, and its interval holds 0 where the data allow one."""
    found = (await analysed(await evaluated(), settings, coder="sim/judge-random")).summary
    said = found["agreement"]
    assert not found["same_coder"]
    assert abs(said["kappa"]) < 0.15
    assert said.get("no_interval") or said["low"] < 0 < said["high"]
    assert all(one["met"]["k"] == 0 for one in found["modes"])


async def test_modes_by_chance_are_seen_in_atoms_that_were_met_as_often(
    settings: Settings, evaluated: Callable[[], Any]
) -> None:
    """Where the judge codes at random, modes are seen in met atoms as in failed ones, and no model stands out."""
    found = (await analysed(await evaluated(), settings, judge="sim/judge-random")).summary
    failed, met = (sum(one[group]["k"] for one in found["modes"]) for group in ("failed", "met"))
    groups = found["atoms"]
    assert abs(failed / groups["failed"]["n_scored"] - met / groups["met"]["n_scored"]) < 0.15
    assert not any(one["verdict"] in ("more often", "less often") for one in found["contrasts"])


async def test_quotes_that_stand_nowhere_are_sent_back_then_dropped(
    settings: Settings, evaluated: Callable[[], Any]
) -> None:
    """An atom whose phrase is invented twice is a failure of its kind: under no mode, and not under none either."""
    watched = CountingTransport(SimTransport())
    found = (await analysed(await evaluated(), settings, judge="sim/judge-misquoting", watched=watched)).summary
    problems = [recognised.problem for call in watched.sent if (recognised := _recognised(call)) and recognised.problem]
    assert any("does not stand in the answer" in problem for problem in problems)
    assert 0 < found["misquoted"] <= found["failures"]["unparsable"]
    groups = found["atoms"]
    dropped = sum(group["n"] - group["n_scored"] for group in groups.values())
    assert dropped == found["failures"]["unparsable"]
    for group in ("failed", "met"):
        counted = [one[group] for one in [*found["modes"], found["none"]]]
        assert sum(one["k"] for one in counted) == groups[group]["n_scored"]
        assert {one["n"] for one in counted} == {groups[group]["n_scored"]}
    assert found["none"]["failed"]["bounds"]["high"] > found["none"]["failed"]["share"]


def _recognised(call: ModelCall) -> Any:
    return recognise(call.messages) if isinstance(call, Chat) else None


async def test_modes_are_kept_edited_and_counted_again(
    settings: Settings, evaluated: Callable[[], Any], tmp_path: Path
) -> None:
    """Modes of a file are counted without any being made, on all images but those that they were made on."""
    run, path = await evaluated(), tmp_path / "modes.yaml"
    first = await analysed(run, settings)
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, first.run)
        assert METHOD.after is not None
        (told,) = METHOD.after(home, row, ModesRequest(run=run.run, judge="sim/judge", export=path))
    assert told.startswith(f"wrote {len(first.summary['modes'])} modes")
    kept = yaml.safe_load(path.read_text())
    omissions = [one for one in kept["modes"] if one["kind"] == "omission"]
    merged = {
        "name": "says nothing of the point",
        "kind": "omission",
        "definition": "The answer does not speak of the point.",
    }
    kept["modes"] = [*(one for one in kept["modes"] if one not in omissions), merged]
    path.write_text(yaml.safe_dump(kept))
    watched = CountingTransport(SimTransport())
    second = (await analysed(run, settings, modes=path, watched=watched)).summary
    assert {_recognised(call).name for call in watched.sent} == {"modes_assign"}
    assert second["given"]
    assert second["making"] is None
    assert [one["name"] for one in second["modes"]][-1] == merged["name"]
    with Home.open(settings.home, write=False) as home:
        coded = [coded_of(home, get_run(home, one)) for one in (first.run, second["run"])]
    assert {one.answer.key for one in coded[0].atoms} == {one.answer.key for one in coded[1].atoms}
    path.unlink()
    forked = await fork(row_of(settings, second["run"]), ForkRequest(judge="sim/judge-noisy"), settings=settings)
    assert [one["name"] for one in forked.summary["modes"]] == [one["name"] for one in second["modes"]]


def row_of(settings: Settings, run: str) -> Any:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, run)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("modes: [", "not valid YAML"),
        ("format: dokimasia-tree/1\nmodes: []", "no list of failure modes"),
        ("format: dokimasia-modes/1\nmodes: []", "at least one mode"),
        (
            "format: dokimasia-modes/1\nmodes: [{name: a b, kind: omission}]",
            r"mode 1 \('a b'\): definition: is missing",
        ),
        ("format: dokimasia-modes/1\nmodes: [{name: a, kind: lie, definition: d}]", r"mode 1 \('a'\): kind: "),
        (
            "format: dokimasia-modes/1\nmodes:\n- {name: A, kind: omission, definition: d}\n"
            "- {name: a, kind: omission, definition: d}",
            r"mode 2 \('a'\): name: another mode is called so already",
        ),
        ("format: dokimasia-modes/1\nmodes: [3]", "mode 1: is to have the fields"),
        (
            "format: dokimasia-modes/1\nmode: x\nmodes: [{name: a, kind: omission, definition: d}]",
            "unknown field 'mode'",
        ),
    ],
)
async def test_a_bad_file_of_modes_is_named(
    text: str, told: str, settings: Settings, evaluated: Callable[[], Any], tmp_path: Path
) -> None:
    """The message has the file, the mode and what is wrong with it; nothing is sent."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    watched = CountingTransport(SimTransport())
    with pytest.raises(DataError, match=told) as problem:
        await analysed(await evaluated(), settings, modes=path, watched=watched)
    assert str(path) in str(problem.value)
    assert problem.value.exit_code == 2
    assert watched.sent == []


async def test_what_cannot_be_analysed_is_refused(
    settings: Settings, finished: Finished, large: Path, tmp_path: Path
) -> None:
    """A model that did not answer, a run without a failed atom, modes of the same images: each with a way out."""
    request = EvaluationRequest.model_validate(
        {"data": large, "judge": "sim/judge", "models": ("sim/tutor",), "limit": 4}
    )
    run = await finished(request)
    with pytest.raises(ConfigError, match="`models`: sim/weak did not answer"):
        await analysed(run, settings, models=("sim/weak",))
    with pytest.raises(InputError, match=r"no criterion of run .* has failed"):
        await analysed(run, settings)
    with pytest.raises(InputError, match=r"modes are kept as \.yaml"):
        await analysed(run, settings, modes=tmp_path / "modes.txt")


async def test_a_limit_reads_fewer_atoms_and_says_of_how_many(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """With a limit whole samples are drawn, and the figures say how many failed atoms there are beside those."""
    found = (await analysed(await evaluated(), settings, limit=20, models=("sim/weak", "sim/hasty"))).summary
    failed = found["atoms"]["failed"]
    assert found["models"] == ["sim/hasty", "sim/weak"]
    assert 20 <= failed["n"] < 40 < failed["there"]
    assert found["making"]["atoms"] < 40


async def test_a_subsample_reads_samples_of_every_category(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """The seed draws samples balanced over categories; every atom that is read is of one of them."""
    run = await evaluated()
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run.run)
        categories = {sample.id: sample.category for sample in load_samples(home, row.id)}
        splits = [draw(home, row, limit=10_000, subsample=24, seed=seed) for seed in (0, 0, 1)]
    read = [{answer.sample_id for answer in (*split.making, *split.counting)} for split in splits]
    assert read[0] == read[1] != read[2]
    assert all(len(samples) <= 24 for samples in read)
    assert {categories[sample] for sample in read[0]} == set(categories.values())


async def test_pages_have_examples_that_open_their_samples(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """On the analysis's own page and on the evaluation's each example leads to its sample; Markdown has the words, too."""
    run = await evaluated()
    made = await analysed(run, settings)
    example = next(each for one in made.summary["modes"] for each in one["examples"] if each["quote"])
    with Home.open(settings.home, write=False) as home:
        own = await report_data(home, get_run(home, made.run))
        theirs = await report_data(home, get_run(home, run.run))
    page = render(own, "html").decode()
    assert f'href="#sample-{example["sample"]}"' in page
    assert f'id="sample-{example["sample"]}"' in page
    assert "data:image" in page
    text = render(own, "md").decode()
    assert example["quote"].split()[0] in text
    number = [view["sample"]["id"] for view in theirs.samples].index(example["sample"]) + 1
    assert f'href="#s-{number}"' in render(theirs, "html").decode()


async def test_an_export_has_a_row_for_each_atom(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """Each says the point, the group, the mode or that none was seen, and both coders' words where there are two."""
    made = await analysed(await evaluated(), settings)
    with Home.open(settings.home, write=False) as home:
        rows = (await export_rows(home, get_run(home, made.run))).rows
        again = [row for row in results(home, made.run) if row.kind == "second coding"]
    groups = made.summary["atoms"]
    assert len(rows) == groups["failed"]["n"] + groups["met"]["n"]
    assert Counter(row["group"] for row in rows) == {name: group["n"] for name, group in groups.items()}
    assert sum(row["second"] is not None for row in rows) == len(again) >= 60
    assert {row["mode"] for row in rows} <= {*(one["name"] for one in made.summary["modes"]), NO_MODE}
    assert all(row["question"] and row["ground_truth"] and row["prompt"] == "modes_assign" for row in rows)


async def test_a_diagnosis_takes_the_modes_up(settings: Settings, evaluated: Callable[[], Any]) -> None:
    """Tables of the modes are part of the diagnosis, and a writer prints figures and the answers' words from them."""
    run = await evaluated()
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run.run)
        assert diagnosis_of(row, gather(home, row)).asset("modes") is None
    made = (await analysed(run, settings)).summary
    with Home.open(settings.home, write=False) as home:
        diagnosis = diagnosis_of(row, gather(home, row))
        half = frozenset(one.answer.sample_id for one in coded_of(home, get_run(home, made["run"])).atoms[::2])
        kept = restricted(gather(home, row).material, half).coded
    assert kept is not None
    assert {one.answer.sample_id for one in kept.atoms} == half
    overall, own, examples = (diagnosis.asset(id) for id in ("modes", "modes/sim-weak", "examples/sim-weak"))
    assert overall is not None
    assert own is not None
    assert examples is not None
    assert [row.cells[0].value for row in overall.rows] == [*(one["name"] for one in made["modes"]), NO_MODE]
    assert {row.cells[0].value: row.cells[2].value for row in own.rows} == {
        one["name"]: one["models"]["sim/weak"]["k"] for one in made["modes"] if one["models"]["sim/weak"]["k"]
    }
    assert max(Counter(row.cells[0].value for row in examples.rows).values()) == 2
    words = await write_diagnosis(WordsRequest(run=run.run, judge="sim/judge"), settings=settings)
    report = next(one for one in words.summary["reports"] if one["subject"] == "sim/weak")
    assert report["unverified"] == 0
    top = str(own.rows[0].cells[0].value)
    said = next(one for one in report["sentences"] if f"\u201c{top}\u201d" in one["text"])
    assert {place["row"] for place in said["places"]} == {"modes/sim-weak:1"}


async def test_the_lead_quotes_the_mode_and_says_where_modes_tie(
    settings: Settings, evaluated: Callable[[], Any]
) -> None:
    """The most frequent mode stands in quotation marks, two with one count are both named, and the judge is no person."""
    made = await analysed(await evaluated(), settings)
    with Home.open(settings.home, write=False) as home:
        data = await report_data(home, get_run(home, made.run))
    figures = data.figures_as(ModesFigures)
    most = max(figures.modes, key=lambda mode: mode.failed.k)
    first, second = figures.modes[:2]
    for modes, lead in (
        ((most,), f"“{most.name}” is seen most often: "),
        (
            (first, second.model_copy(update={"failed": first.failed})),
            f"“{first.name}” and “{second.name}” are seen equally often, and most often: each ",
        ),
    ):
        shown = replace(data, figures=figures.model_copy(update={"modes": modes}))
        sentences = [plain(sentence) for sentence in conclusion(shown)]
        assert sentences[0].startswith(lead)
        assert "which knew neither scores nor models" in sentences[1]
