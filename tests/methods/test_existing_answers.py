"""Answers that exist already: fed back from an export in every format, held against the data, audited without being asked for."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.errors import ConfigError, DataError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.audit import AuditRequest, audit
from dokimasia.methods.audit.analyses import two_judges
from dokimasia.methods.audit.figures import audit_rows
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.report.fields import as_json
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.preview import preview
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.exporting import Format, encode, export_rows
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.methods.conftest import Finished
from tests.runs.kinds import KINDS, make

Requests = Callable[..., EvaluationRequest]


async def exported(settings: Settings, run: str, path: Path, format: Format = "jsonl") -> Path:
    """Write a run's export and return its path."""
    with Home.open(settings.home, write=False) as home:
        path.write_bytes(encode(await export_rows(home, get_run(home, run)), format))
    return path


def compared(settings: Settings, first: str, second: str, **options: Any) -> dict[str, Any]:
    with Home.open(settings.home, write=False) as home:
        return as_json(compare_runs(home, get_run(home, first), get_run(home, second), **options))


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
async def test_an_export_fed_back_has_the_same_answers(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path, format: Format
) -> None:
    """In every format of an export the answers come back to the letter: `diff` finds them the same in all samples."""
    first = (await finished(request_of(judge="sim/judge"))).run
    path = await exported(settings, first, tmp_path / f"answers.{format}", format)
    again = await evaluate(request_of(judge="sim/judge-noisy", models=(), responses=path), settings=settings)
    for pair in compared(settings, first, again.run)["pairs"]:
        assert pair["same_answers"] == pair["n_paired"] >= 12
        assert pair["same_criteria"] < pair["n_paired"] or pair["agreement"]["answers"] == pair["n_paired"]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
async def test_answers_marked_as_simulated_are_of_simulated_models(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path, format: Format
) -> None:
    """Whatever a simulated model was called behind a server: what its export is marked by, the next run's figures say."""
    first = (await finished(request_of(judge="sim/judge"))).run
    with Home.open(settings.home, write=False) as home:
        export = await export_rows(home, get_run(home, first))
    for marked, named in ((True, ["A"]), (False, [])):
        rows = [row | {"model": "A", "simulated": marked} for row in export.rows if row["model"] == "sim/strong"]
        path = tmp_path / f"answers-{marked}.{format}"
        path.write_bytes(encode(export._replace(rows=rows), format))
        again = await evaluate(request_of(judge=None, models=(), responses=path), settings=settings)
        assert again.summary["simulated"] == named


async def test_other_texts_are_other_answers(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path
) -> None:
    """Two answers are the same where their texts are: with one word more in one of them, all but that one."""
    first = (await finished(request_of(judge="sim/judge"))).run
    path = await exported(settings, first, tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["response"] += " Indeed."
    path.write_text("\n".join(map(json.dumps, rows)))
    again = await evaluate(request_of(judge="sim/judge", models=(rows[0]["model"],), responses=path), settings=settings)
    (pair,) = compared(settings, first, again.run)["pairs"]
    assert pair["same_answers"] == pair["n_paired"] - 1


async def test_answers_to_unknown_samples_are_named(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path
) -> None:
    """An id that the data do not have is refused by file and line, left out on request, and no matter with --limit."""
    first = (await finished(request_of(judge="sim/judge"))).run
    path = await exported(settings, first, tmp_path / "answers.jsonl")
    given = path.read_text().splitlines()
    stranger = json.loads(given[1]) | {"id": "nobody-knows"}
    path.write_text("\n".join([*given, json.dumps(stranger)]))
    asked: dict[str, Any] = {"judge": "sim/judge", "models": (), "responses": path}
    where = rf"answers\.jsonl, line {len(given) + 1}: the data have no sample 'nobody-knows'"
    with pytest.raises(DataError, match=rf"{where}\n\(mend the ids.*`on_bad_sample` skip"):
        await evaluate(request_of(**asked), settings=settings)
    skipped = await evaluate(request_of(**asked, on_bad_sample="skip"), settings=settings)
    assert [line.rpartition("/")[2] for line in skipped.summary["skipped"]] == [
        f"answers.jsonl, line {len(given) + 1}: the data have no sample 'nobody-knows'"
    ]
    assert (await evaluate(request_of(**asked, limit=3), settings=settings)).complete
    path.write_text("\n".join([json.dumps(stranger), *given[1:]]))
    with pytest.raises(DataError, match=r"has no answer to 1 of 14 samples[^$]*line 1: the data have no sample"):
        await evaluate(request_of(**asked), settings=settings)


async def test_a_lacking_answer_names_the_file_and_what_helps(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path
) -> None:
    """The file is named without the model's name before it, one model alone is not to choose among, and of many unknown
    ids the first few are listed with how many more there are."""
    first = (await finished(request_of(judge="sim/judge", models=("sim/strong",)))).run
    path = await exported(settings, first, tmp_path / "answers.jsonl")
    given = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row | {"id": f"unknown-{row['id']}"} for row in given[4:]]
    path.write_text("\n".join(map(json.dumps, [*given[:4], *rows])))
    asked = request_of(models=(), responses=path.with_name("sim%2Fstrong=answers.jsonl"), on_bad_sample="skip")
    with pytest.raises(DataError) as raised:
        await evaluate(asked, settings=settings)
    said = str(raised.value)
    assert said.startswith(f"{path}: sim/strong has no answer to 10 of 14 samples")
    assert "--models" not in said
    assert said.count("the data have no sample '") == 3
    assert said.endswith("and 7 more")


async def test_a_preview_shows_only_what_is_asked(
    settings: Settings, request_of: Requests, finished: Finished, tmp_path: Path
) -> None:
    """Nobody is asked for answers that exist, so their prompt is not shown."""
    first = (await finished(request_of(judge="sim/judge"))).run
    path = await exported(settings, first, tmp_path / "answers.jsonl")
    asked = request_of(models=(), responses=path)
    shown = await asyncio.to_thread(preview, METHOD, asked, settings=settings)
    assert "candidate" not in shown["prompts"]
    assert "checkpoints" in shown["prompts"]


class Audited:
    """A home with an audit, its request, and its export; nothing changes it."""

    def __init__(self, folder: Path, world: Path) -> None:
        self.settings = load_settings(home=folder / "home", cwd=folder, env={})
        self.run = asyncio.run(make(self.settings, world, KINDS["audit"])).run
        with Home.open(self.settings.home, write=False) as home:
            kept: Any = get_run(home, self.run).options["request"]
        self.request = AuditRequest.model_validate(kept)
        self.file = asyncio.run(exported(self.settings, self.run, folder / "said.csv", "csv"))

    def asking(self, **changes: Any) -> AuditRequest:
        return self.request.model_copy(update={"models": (), "responses": (self.file,), **changes})


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """An audit of the described world that the contract's runs are made over."""
    from dokimasia.simulation.world import write_described

    folder = tmp_path_factory.mktemp("audited")
    write_described(folder / "world.jsonl", 7, 3)
    return Audited(folder, folder / "world.jsonl")


async def test_descriptions_that_exist_are_audited(audited: Audited) -> None:
    """Models whose descriptions are in a file are not asked, and come to the same scores as where they were asked."""
    transport = CountingTransport(SimTransport())
    request = audited.asking(judge="sim/judge-noisy")
    result = await audit(request, settings=audited.settings, transports={"sim": transport})
    assert set(transport.by_model) == {"sim/judge-noisy"}
    assert result.summary["open_items"] == 0
    same = await audit(audited.asking(), settings=audited.settings)
    assert same.run not in {audited.run, result.run}
    pairs = compared(audited.settings, audited.run, same.run)["pairs"]
    assert [pair["first_model"] for pair in pairs] == ["sim/strong", "sim/weak"]
    for pair in pairs:
        assert pair["same_answers"] == pair["n_paired"] == pair["n_shared"]
        assert pair["difference"]["mean"] == 0


async def test_two_judges_of_the_same_descriptions(audited: Audited) -> None:
    """Decisions of two judges are compared on descriptions that are word for word the same, read from a file or asked for."""
    result = await audit(audited.asking(judge="sim/judge-lenient"), settings=audited.settings)
    with Home.open(audited.settings.home, write=False) as home:
        rows = [audit_rows(home, get_run(home, run)) for run in (audited.run, result.run)]
    found = two_judges(*rows, names=("one", "other"), seed=0)
    assert found.decisions.n > 0


async def test_an_audit_of_descriptions_is_forked_and_resumed(audited: Audited, tmp_path: Path) -> None:
    """Another judge judges the same descriptions; where the file has changed since, neither a fork nor a resume goes on."""
    file = tmp_path / "said.csv"
    file.write_bytes(audited.file.read_bytes())
    request = audited.asking(responses=(file,), max_calls=2, judge="sim/judge-careless", fresh=True)
    begun = await audit(request, settings=audited.settings)
    assert not begun.complete
    with Home.open(audited.settings.home, write=False) as home:
        row = get_run(home, begun.run)
    done = await resume(row, settings=audited.settings, changes={"max_calls": None})
    assert done.complete
    with Home.open(audited.settings.home, write=False) as home:
        row = get_run(home, begun.run)
    forked = await fork(row, ForkRequest(judge="sim/judge-nearsighted"), settings=audited.settings)
    pairs = compared(audited.settings, begun.run, forked.run)["pairs"]
    assert all(pair["same_answers"] == pair["n_paired"] for pair in pairs)
    file.write_bytes(file.read_bytes().replace(b",sim/weak,", b",sim/other,"))
    with pytest.raises(DataError, match=r"said\.csv has changed since run"):
        await fork(row, ForkRequest(judge="sim/judge-lenient"), settings=audited.settings)
    with pytest.raises(DataError, match=r"said\.csv has changed since run"):
        await resume(row, settings=audited.settings, retry=("unparsable",))


async def test_what_an_audit_of_descriptions_cannot_do(audited: Audited) -> None:
    """Neither models nor descriptions, an arm without the image, and an unknown sample are refused with a way out."""
    with pytest.raises(ConfigError, match="`models`, or existing descriptions with responses=FILE"):
        await audit(audited.asking(responses=()), settings=audited.settings)
    with pytest.raises(ConfigError, match="`no_image` asks the candidates anew"):
        await audit(audited.asking(no_image=True), settings=audited.settings)
