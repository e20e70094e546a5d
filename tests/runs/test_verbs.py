"""The front door's verbs: requests or fields, signatures, what they return, and their twins without an event loop."""

import inspect
import pydoc
import sys
from pathlib import Path
from typing import Any

import pytest

import dokimasia
from dokimasia import EvaluationRequest, Home, HomeLocked, RunResult, Settings, evaluate, load_settings
from dokimasia.errors import ConfigError, InputError, LoopRunning, NotFound
from dokimasia.report.comparison import RunComparison
from dokimasia.runs.catalogue import OWN, own_method
from dokimasia.runs.lifecycle import run
from dokimasia.runs.verbs import request_of
from dokimasia.simulation.world import write_world

SYNC = sorted(name for name in dokimasia.__all__ if name.endswith("_sync"))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with two evaluations of three questions by the same judge."""
    folder = tmp_path_factory.mktemp("verbs")
    write_world(folder / "world.jsonl", 3, 0)
    settings = load_settings(home=folder / "home", env={}, cwd=folder)
    for model in ("sim/weak", "sim/strong"):
        dokimasia.evaluate_sync(
            data=folder / "world.jsonl", judge="sim/judge", models=[model], settings=settings, name=model[4:]
        )
    return settings


def test_each_method_has_a_verb_with_its_fields() -> None:
    """Every method is a function of the front door whose help shows the fields of its request, required ones first."""
    verbs = {getattr(dokimasia, name.removesuffix("_sync")) for name in SYNC}
    shown = {tuple(inspect.signature(verb).parameters) for verb in verbs}
    for name in OWN:
        fields = own_method(name).request.model_fields
        assert any(set(fields) <= set(parameters) for parameters in shown), name
    text = pydoc.plain(pydoc.render_doc(evaluate))
    assert "evaluate(request=None, *, data: pathlib.Path, judge: " in text
    assert "no_image: Also ask every candidate without the image" in text
    assert "chat_models: LangChain chat models" in text


async def test_every_sync_verb_says_what_to_write_in_an_event_loop() -> None:
    """Called inside a running event loop, no `*_sync` begins anything, and each names its asynchronous twin."""
    assert {"evaluate_sync", "grow_tree_sync", "diff_sync", "write_report_sync"} <= set(SYNC)
    for name in SYNC:
        with pytest.raises(LoopRunning, match=rf"{name} was called .*: write `await {name[:-5]}\(\.\.\.\)` there"):
            getattr(dokimasia, name)()
        assert isinstance(LoopRunning(""), RuntimeError)


async def test_fields_and_requests_are_one(settings: Settings) -> None:
    """Fields by name are the request that they make: the run is the same, and its result comes from the store."""
    data = settings.home.parent / "world.jsonl"
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/weak",))
    by_request = await evaluate(request, settings=settings)
    by_fields = await evaluate(data=str(data), judge="sim/judge", models=["sim/weak"], settings=settings)
    assert by_request == by_fields
    with pytest.raises(InputError, match=r"evaluate takes no model; did you mean 'models'\?$"):
        await evaluate(data=data, judge="sim/judge", model="sim/weak")
    with pytest.raises(InputError, match=r"evaluate takes no zzz; it takes: .*data, "):
        await evaluate(data=data, judge="sim/judge", zzz=1)
    with pytest.raises(InputError, match="evaluate: data: Field required; repeats: Input should be greater"):
        await evaluate(repeats=0)
    with pytest.raises(InputError, match="evaluate: seed: give a request, or its fields by name, and not both"):
        await evaluate(request, seed=1)


async def test_a_result_has_rows_and_a_short_repr(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of an export, in an event loop, too; `repr` fits on a line, whatever the figures hold."""
    result = await evaluate(
        data=settings.home.parent / "world.jsonl", judge="sim/judge", models=["sim/weak"], settings=settings
    )
    assert {row["model"] for row in result.rows} == {"sim/weak"}
    assert [row["id"] for row in result.rows] == [
        row["id"] for row in (await dokimasia.export("weak", settings=settings)).rows
    ]
    frame: Any = result.to_pandas()
    assert len(frame) == len(result.rows)
    assert set(frame.columns) == set(result.rows[0])
    assert repr(result) == str(result) == f"RunResult({result.run!r}, end='complete', models=['sim/weak'])"
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match=r"to_pandas needs pandas: pip install 'dokimasia\[pandas\]', or take `rows`"):
        result.to_pandas()
    with pytest.raises(dokimasia.DokimasiaError, match="no home is known"):
        _ = RunResult(run="x", complete=True, summary={}).rows


async def test_verbs_read_and_write_what_runs_left(settings: Settings, tmp_path: Path) -> None:
    """Runs are listed, shown, compared, exported, diagnosed, reported, forked and resumed by name."""
    listed = await dokimasia.list_runs(settings=settings)
    assert [run.name for run in listed] == ["strong", "weak"]
    shown = await dokimasia.show("weak", settings=settings)
    assert shown.figures["models"].keys() == {"sim/weak"}
    compared = await dokimasia.diff("weak", "strong", models=("sim/weak", "sim/strong"), settings=settings)
    assert isinstance(compared, RunComparison)
    assert compared.scores
    file = tmp_path / "rows.jsonl"
    await dokimasia.export("weak", file, settings=settings)
    assert len(file.read_text().splitlines()) == len((await dokimasia.export("weak", settings=settings)).rows)
    page = await dokimasia.write_report("weak", tmp_path / "report.md", settings=settings)
    assert "sim/weak" in page.read_text()
    assert (await dokimasia.diagnose("weak", settings=settings)).assets
    resumed = await dokimasia.resume("weak", settings=settings)
    assert resumed.end == "complete"
    for kinds in ("api_error", ("api_error",), "refused, api_error"):
        again = await dokimasia.resume("weak", retry=kinds, settings=settings)  # pyright: ignore[reportArgumentType]
        assert again.end == "complete"
    for kinds in ("lazy", ("api_error", "lazy")):
        with pytest.raises(InputError, match="no failure is of kind 'lazy'; there are: "):
            await dokimasia.resume("weak", retry=kinds, settings=settings)  # pyright: ignore[reportArgumentType]
    forked = await dokimasia.fork("weak", judge="sim/judge-lenient", node="score", settings=settings)
    assert forked.complete
    with pytest.raises(NotFound):
        await dokimasia.show("nothing", settings=settings)
    with pytest.raises(InputError, match="passport"):
        await dokimasia.correct("weak", settings=settings)


def test_reading_verbs_have_twins(settings: Settings) -> None:
    """Without an event loop the same verbs return the same."""
    assert dokimasia.show_sync("weak", settings=settings).name == "weak"
    assert dokimasia.diagnose_sync("weak", settings=settings).models == ("sim/weak",)


def test_an_error_of_a_sync_verb_has_no_other_error_behind_it(settings: Settings) -> None:
    """A traceback shows the error alone, and nothing of an event loop that is looked for."""
    with pytest.raises(NotFound) as raised:
        dokimasia.show_sync("nonsense", settings=settings)
    errors: list[BaseException] = []
    error: BaseException | None = raised.value
    while error is not None:
        errors.append(error)
        error = error.__context__
    assert not [error for error in errors if "event loop" in str(error)]


async def test_a_result_stands_for_its_run(settings: Settings, tmp_path: Path) -> None:
    """Every verb that takes a run takes the result of one, and reads it in the home in which it was made."""
    how: dict[str, Any] = {"judge": "sim/judge", "settings": settings}
    data = settings.home.parent / "world.jsonl"
    weak = await evaluate(data=data, models=["sim/weak"], **how)
    strong = await evaluate(data=data, models=["sim/strong"], **how)
    pair = ("sim/weak", "sim/strong")
    assert (await dokimasia.show(weak)).id == weak.run
    assert (await dokimasia.gate(strong, baseline=weak, max_drop=2, models=pair)).baseline == weak.run
    assert (await dokimasia.diff(weak, strong, models=pair)).first.run == weak.run
    assert set((await dokimasia.board(weak, strong)).models) == set(pair)
    assert len((await dokimasia.export(weak)).rows) == len(weak.rows)
    assert "sim/weak" in (await dokimasia.write_report(weak, tmp_path / "weak.md")).read_text()
    assert (await dokimasia.diagnose(weak)).models == ("sim/weak",)
    assert (await dokimasia.bundle(weak, tmp_path / "weak.dokimasia")).is_file()
    assert (await dokimasia.resume(weak)).run == weak.run
    assert (await dokimasia.fork(weak, judge="sim/judge-lenient", node="score")).complete
    assert dokimasia.pending_checks(weak) == []
    with pytest.raises(InputError, match="passport"):
        await dokimasia.correct(weak)
    modes = await dokimasia.modes(run=weak, judge="sim/judge", settings=settings)
    assert modes.complete


async def test_a_home_is_named_by_text(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of any form is a home, for verbs that run, read and open bundles, and for the settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOKIMASIA_HOME", raising=False)
    data = str(settings.home.parent / "world.jsonl")
    result = await evaluate(data=data, judge="sim/judge", models="sim/weak", home="mine", limit=1)
    assert result.home == tmp_path / "mine"
    for home in ("mine", "./mine", tmp_path / "mine"):
        assert (await dokimasia.show(home=home)).id == result.run
        assert load_settings(home=home, config=None, cwd=str(tmp_path), env={}).home.resolve() == tmp_path / "mine"
    await dokimasia.bundle(path="run.dokimasia", home="mine")
    assert (await dokimasia.open_bundle("run.dokimasia", home="other")).run == result.run
    assert [run.id for run in await dokimasia.list_runs(home="other")] == [result.run]
    with Home.open("mine", write=True) as home:
        assert (await evaluate(data=data, judge="sim/judge", models="sim/weak", home=home, limit=1)) == result
        with pytest.raises(HomeLocked, match=r"in this process .*: close it first, or give the open home as home=\.$"):
            await evaluate(data=data, judge="sim/judge", models="sim/strong", home="mine")
    assert not (tmp_path / ".dokimasia").exists()


async def test_errors_name_arguments_and_not_options(settings: Settings, tmp_path: Path) -> None:
    """What a verb of Python refuses it says in Python's words, where the command line says it in its own."""
    data = settings.home.parent / "world.jsonl"
    cases: list[tuple[Any, str]] = [
        (
            evaluate(data=data, judge="sim/judge", settings=settings),
            "at least one candidate with `models`, .*responses=FILE",
        ),
        (
            evaluate(data=data, models="sim/weak", tools="zoom", settings=settings),
            "name one with `judge`, or leave `tools`",
        ),
        (
            dokimasia.fork("weak", settings=settings),
            "name the step to begin at with `node`",
        ),
        (dokimasia.correct("weak", settings=settings), "passport=FILE, with mix=FILE.*human=FILE"),
        (dokimasia.show(home=tmp_path / "none"), "Name another with `home`"),
    ]
    for work, message in cases:
        with pytest.raises(InputError, match=message) as raised:
            await work
        assert "--" not in str(raised.value)
    request = EvaluationRequest(data=data, judge="sim/judge", models=())
    with pytest.raises(InputError, match="with --models, or existing answers with --responses FILE"):
        await run(own_method("evaluate"), request, settings=settings)


def test_columns_of_a_request_may_be_a_mapping() -> None:
    """`columns` by field are the same as FIELD=COLUMN."""
    fields = {"data": "x.csv", "judge": "j", "models": ["m"]}
    by_mapping = request_of(EvaluationRequest, "evaluate", {**fields, "columns": {"id": "pid", "prompt": "question"}})
    assert by_mapping.columns == ("id=pid", "prompt=question")
