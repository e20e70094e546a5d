"""Answers that exist in several files: `--responses` given once for each, read together, and held apart where they clash."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run as command_line
from dokimasia.datasets import named_file
from dokimasia.errors import DataError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.duel import METHOD, DuelRequest, duel
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.lifecycle import resume
from dokimasia.settings import Settings
from dokimasia.simulation.ranked_world import write_ranked
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

CASES = 4
MODELS = ("one", "two", "My model")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four creative cases."""
    path = tmp_path_factory.mktemp("creative") / "cases.jsonl"
    write_creative(path, CASES, 1)
    return path


@pytest.fixture
def files(cases: Path, tmp_path: Path) -> list[str]:
    """Predictions of three models, each in a file of another form, as `--responses` names them."""
    ids = [json.loads(line)["id"] for line in cases.read_text().splitlines()]
    answers = [{"index": id, "prediction": f"A poem on {id}."} for id in ids]
    tsv, listed, named = tmp_path / "one_own.tsv", tmp_path / "two_own.json", tmp_path / "cols.json"
    tsv.write_text("index\tprediction\n" + "".join(f"{one['index']}\t{one['prediction']}\n" for one in answers))
    listed.write_text(json.dumps(answers))
    named.write_text(json.dumps({name: [one[name] for one in answers] for name in ("index", "prediction")}))
    return [str(tsv), str(listed), f"My model={named}"]


def arguments(verb: str, data: Path, files: Sequence[str], home: Path, *more: str) -> list[str]:
    named = [word for file in files for word in ("--responses", file)]
    return [verb, str(data), *named, "--judge", "sim/judge", "--home", str(home), *more]


def test_predictions_of_several_models_are_judged_together(
    cases: Path, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three files given with three options are three models of one run, whose stored command names all of them."""
    home = tmp_path / "home"
    assert command_line(arguments("duel", cases, files, home, "--baseline", "reference", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["models"]) == set(MODELS)
    with Home.open(home, write=False) as opened:
        _, request = METHOD.read(get_run(opened, found["run"]))
    assert request.command.count("--responses") == 3
    assert "one_own.tsv" in request.command
    assert command_line(arguments("arena", cases, files, home, "--models", ",".join(MODELS), "--json")) == 0
    assert set(json.loads(capsys.readouterr().out)["models"]) >= set(MODELS)
    assert command_line(arguments("evaluate", cases, files, home, "--json")) == 0
    assert set(json.loads(capsys.readouterr().out)["models"]) == set(MODELS)


def test_the_order_of_the_files_changes_no_run(cases: Path, files: list[str], settings: Settings) -> None:
    """The same files in another order are the same run, of duels and of an evaluation alike."""
    first, turned = (
        asyncio.run(duel(_request(cases, named), settings=settings, transports={"sim": SimTransport()}))
        for named in (files, files[::-1])
    )
    assert first.run == turned.run


def test_an_answer_in_two_files_is_refused_with_both_places(cases: Path, files: list[str], settings: Settings) -> None:
    """The same model, sample and repeat in two files is refused, and both places are named, for each of them at once."""
    other = Path(files[1]).with_name("one_other.tsv")
    other.write_bytes(Path(files[0]).read_bytes())
    with pytest.raises(DataError) as refused:
        asyncio.run(duel(_request(cases, [files[0], str(other)]), settings=settings))
    lines = str(refused.value).splitlines()
    assert len(lines) == CASES + 1
    assert "one_other.tsv line 2: one already answers sample" in lines[0].replace(", line", " line")
    assert "one_own.tsv" in lines[0]


def test_a_request_that_was_stored_with_one_file_is_read(cases: Path, files: list[str]) -> None:
    """What an earlier release stored, one path or none, is read as the files that it means."""
    asked: dict[str, Any] = {"data": str(cases), "judge": "sim/judge", "baseline": "reference"}
    assert DuelRequest.model_validate({**asked, "responses": files[0]}).responses == (Path(files[0]),)
    assert DuelRequest.model_validate({**asked, "responses": None}).responses == ()


def test_one_of_several_files_that_changed_is_refused(cases: Path, files: list[str], tmp_path: Path) -> None:
    """An evaluation of two files is not continued when one of them has changed since, and goes on where none has."""
    settings = Settings(home=tmp_path / "home")
    request = EvaluationRequest.model_validate(
        {"data": cases, "judge": "sim/judge", "responses": files[:2], "max_calls": 3}
    )
    done = asyncio.run(evaluate(request, settings=settings, transports={"sim": SimTransport()}))
    with Home.open(settings.home, write=False) as home:
        begun = get_run(home, done.run)
    first = Path(files[0])
    before = first.read_text()
    first.write_text(before.replace("poem", "song"))
    with pytest.raises(DataError, match=r"one_own\.tsv and .*two_own\.json have changed since run"):
        asyncio.run(resume(begun, settings=settings, transports={"sim": SimTransport()}))
    first.write_text(before)
    transport = CountingTransport(SimTransport())
    lifted = {"max_calls": None}
    again = asyncio.run(resume(begun, settings=settings, transports={"sim": transport}, changes=lifted))
    assert again.complete
    assert set(transport.by_model) == {"sim/judge"}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["duel", "x.jsonl", "--judge", "a", "--baseline", "b", "--judge", "c"], "--judge"),
        (
            ["evaluate", "x.jsonl", "--models", "a", "--limit", "1", "--limit", "2", "--models", "b"],
            "--models and --limit",
        ),
        (["sim", "make", "x.jsonl", "--seed", "1", "--seed", "2"], "--seed"),
        (["tree", "show", "x", "--home", "a", "--home", "b"], "--home"),
    ],
)
def test_an_option_that_may_be_given_once_is_refused_twice(
    given: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option of one value that is given twice is refused with exit code 2, whichever verb has it."""
    assert command_line(given) == 2
    assert f"{named} can be given once only" in capsys.readouterr().err


def test_every_model_that_lacks_an_answer_is_named(cases: Path, files: list[str], settings: Settings) -> None:
    """Two models that each lack an answer are named together; with `skip` these cases are left out, and said to be."""
    table, listed = Path(files[0]), Path(files[1])
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    listed.write_text(json.dumps(json.loads(listed.read_text())[1:]))
    with pytest.raises(DataError, match=r"one has no answer to 1 of 4 .*; two has no answer to 1 of 4 samples"):
        asyncio.run(duel(_request(cases, files), settings=settings))
    request = _request(cases, files).model_copy(update={"on_bad_sample": "skip"})
    done = asyncio.run(duel(request, settings=settings, transports={"sim": SimTransport()}))
    first, last = done.summary["skipped"]
    assert first.endswith("sample 'creative-1-0000' is left out: no answer of two")
    assert last.endswith("sample 'creative-1-0003' is left out: no answer of one")
    assert {one["verdicts"]["valid"] for one in done.summary["models"].values()} == {2 * (CASES - 2)}
    listed.write_text(json.dumps([{"index": "creative-1-0003", "prediction": "x"}]))
    with pytest.raises(DataError, match="two has no answer to 3 of 4 samples"):
        asyncio.run(duel(request, settings=settings))


def test_a_dry_run_prints_the_prompts(
    cases: Path, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--dry-run` of duels, an arena and a comparison of judging methods shows every prompt that would be asked by."""
    home = tmp_path / "home"
    dry = ("--dry-run", "--json")
    more = ("--text-models", "sim/hasty", "--describer", "sim/strong", "--descriptions", "specific")
    asked = arguments("duel", cases, [], home, "--baseline", "sim/steady", "--models", "sim/weak", *more, *dry)
    assert command_line(asked) == 0
    shown = json.loads(capsys.readouterr().out)["prompts"]
    assert {"candidate_plain", "observe", "candidate_described", "duel_verdict"} <= set(shown)
    assert command_line(arguments("arena", cases, files, home, "--models", ",".join(MODELS), *dry)) == 0
    assert set(json.loads(capsys.readouterr().out)["prompts"]) == {"duel_verdict"}
    data = tmp_path / "world.jsonl"
    write_world(data, 4, 1)
    of = write_ranked(data, 4, 1)
    named = [word for name, path in of.items() for word in (f"--{name}", str(path))]
    for protocol, checked in (("default", True), ("published", False)):
        words = ["compare-judging", str(data), *named, "--judges", "sim/judge", "--protocol", protocol]
        assert command_line([*words, "--home", str(home), *dry]) == 0
        shown = json.loads(capsys.readouterr().out)["prompts"]
        assert {"pointwise", "batch_ranking", "scan_criteria", "scan_scores", "aspect_scores"} <= set(shown)
        assert {"solver", "criteria_no_chain"} <= set(shown)
        assert ("criteria_check" in shown) is checked


def test_all_keys_that_are_missing_are_named_at_once(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run names every model whose key is not set, as a dry run does, and prints no estimate before it."""
    monkeypatch.chdir(tmp_path)
    Path("dokimasia.toml").write_text(
        "".join(f'[models.{one}]\nmodel = "openai/{one}"\napi_key_env = "NO_KEY_{one}"\n' for one in ("A", "B", "J"))
    )
    asked = ["duel", str(cases), "--models", "A", "--baseline", "B", "--judge", "J", "--home", str(tmp_path / "home")]
    assert command_line(asked) == 2
    said = capsys.readouterr()
    assert all(f"NO_KEY_{one} is not set" in said.err for one in ("A", "B", "J"))
    assert said.out == ""


def _request(cases: Path, files: Sequence[str]) -> DuelRequest:
    named = tuple(map(named_file, files))
    return DuelRequest.model_validate(
        {"data": cases, "judge": "sim/judge", "baseline": "reference", "responses": named}
    )
