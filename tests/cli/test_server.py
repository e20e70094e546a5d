"""Verbs with `--server`: the same options, output and exit codes as on a home of this machine."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.simulation.world import write_world
from tests.cli.served import Served, served
from tests.processes import run_program

EVALUATE = ("evaluate", "--judge", "sim/judge-noisy", "--models", "sim/strong,sim/weak")
READ = [
    ("show", "last"),
    ("show", "last", "--json"),
    ("show", "last", "--sample", "{sample}"),
    ("show", "last", "--sample", "{sample}", "--raw", "--json"),
    ("export", "last"),
    ("export", "last", "--format", "csv"),
    ("report", "last", "-o", "-"),
    ("report", "last", "-o", "-", "--format", "html"),
    ("diff", "last", "last", "--models", "sim/strong,sim/weak"),
    ("diff", "last", "last", "--models", "sim/strong,sim/weak", "--json"),
    ("evaluate", "{data}", "--judge", "sim/judge", "--models", "sim/weak", "--dry-run"),
    ("evaluate", "{data}", "--judge", "sim/judge", "--models", "sim/weak", "--dry-run", "--json"),
    ("fork", "last", "--from", "score", "--judge", "sim/judge", "--dry-run", "--json"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven questions on pictures that lie beside them."""
    path = tmp_path_factory.mktemp("data") / "world.jsonl"
    write_world(path, 7, 3)
    return path


@pytest.fixture(scope="module")
def local(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the program evaluated, without a service."""
    folder = tmp_path_factory.mktemp("local")
    ran = run_program([*EVALUATE, data, "--home", folder / "home"], folder)
    assert ran.returncode == 0, ran.stderr
    return folder / "home"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a home that began empty."""
    with served(tmp_path_factory.mktemp("served") / "home") as found:
        yield found


@pytest.fixture(scope="module")
def evaluated(service: Served, data: Path, local: Path) -> str:
    """What evaluating through the service printed."""
    ran = service.run(*EVALUATE, data)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_run_of_a_service_is_the_same_run(evaluated: str, service: Served, local: Path) -> None:
    """The data and its pictures are sent, and the run has the same id and prints the same bytes as on this machine."""
    shown = run_program(["show", "last", "--home", local], local.parent)
    assert evaluated == shown.stdout
    assert json.loads(service.run("runs", "--json").stdout)[0]["id"] in evaluated


@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_verbs_print_the_same_bytes(
    words: tuple[str, ...], evaluated: str, service: Served, local: Path, data: Path
) -> None:
    """What a verb prints of a run is the same from a service as from a home."""
    sample = json.loads(data.read_text().splitlines()[0])["id"]
    asked = [word.format(sample=sample, data=data) for word in words]
    home = service.home if "--raw" in words else local  # which says when a call was made
    here, there = run_program([*asked, "--home", home], local.parent), service.run(*asked)
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr
    assert here.stdout


def test_files_are_written_here(evaluated: str, service: Served, local: Path, tmp_path: Path) -> None:
    """`-o` of export and report writes on this machine, with the same bytes and the same word on it."""
    for words in (["export", "last", "-o", "rows.jsonl"], ["report", "last", "-o", "page.html", "--samples", "2"]):
        (tmp_path / "here").mkdir(exist_ok=True)
        here = run_program([*words, "--home", local], tmp_path / "here")
        there = service.run(*words, folder=tmp_path)
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
        assert (tmp_path / words[3]).read_bytes() == (tmp_path / "here" / words[3]).read_bytes()


def test_what_is_there_is_not_sent_again(evaluated: str, service: Served, data: Path, tmp_path: Path) -> None:
    """The same data once more are the same upload, and the run asks nothing."""
    copy = shutil.copytree(data.parent, tmp_path / "copy") / data.name
    again = service.run(*EVALUATE, copy)
    assert again.stdout == evaluated
    assert "nothing was asked" in again.stderr
    assert len(list((service.home / "uploads").glob("*/about.json"))) == 1


def test_a_fork_is_compared_named_and_deleted(evaluated: str, service: Served, local: Path) -> None:
    """Fork, diff, names and deletion answer through the service as they do here."""
    words = ("fork", "last", "--from", "score", "--judge", "sim/judge", "--name", "second")
    forked, here = service.run(*words), run_program([*words, "--home", local], local.parent)
    assert (forked.returncode, forked.stdout) == (0, here.stdout), forked.stderr
    assert f"dokimasia diff {json.loads(service.run('runs', '--json').stdout)[1]['id']}" in forked.stderr
    assert f"--server {service.url}" in forked.stderr
    for asked in (("diff", "last", "last"), ("runs", "name", "second", "other")):
        one, two = service.run(*asked), run_program([*asked, "--home", local], local.parent)
        assert (one.returncode, one.stdout) == (two.returncode, two.stdout)
    refused = service.run("runs", "delete", "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--yes" in refused.stderr
    gone, here = (
        service.run("runs", "delete", "other", "--yes"),
        run_program(["runs", "delete", "other", "--yes", "--home", local], local.parent),
    )
    assert (gone.returncode, gone.stdout) == (0, here.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "nothing"), "nothing"),
        (("show", "last", "--sample", "nobody"), "nobody"),
        (("show", "last", "--model", "nobody"), "have no model 'nobody'; there are sim/"),
        (("evaluate", "{bad}", "--judge", "sim/judge", "--models", "sim/weak"), "line 1"),
        (("evaluate", "{data}", "--judge", "sim/nobody", "--models", "sim/weak"), "sim/nobody"),
        (("resume", "last", "--max-calls", "-1"), "--max-calls"),
        (("verify",), "works on a home of this machine"),
        (("criteria", "export", "last"), "works on a home of this machine"),
        (("show", "last", "--home", "elsewhere"), "two places"),
        (("runs", "--method", "duell"), "no method 'duell'; there are evaluate"),
        (("passport", "sim/judge"), "no finished probe"),
        (("models", "nobody"), "no model is called 'nobody'"),
        (("models", "--check"), "works on a home of this machine"),
    ],
)
def test_mistakes_are_the_same(
    words: tuple[str, ...], said: str, evaluated: str, service: Served, data: Path, tmp_path: Path
) -> None:
    """A mistake ends with exit code 2 and the sentence that it has here; what works here alone says so."""
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "prompt": ""}\n')
    ran = service.run(*(word.format(data=data, bad=tmp_path / "bad.jsonl") for word in words))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert str(service.home) not in ran.stderr or "nothing" in words


def test_a_service_is_named_before_the_verb_too(evaluated: str, service: Served, tmp_path: Path) -> None:
    """`dokimasia --server URL VERB` is `dokimasia VERB --server URL`, of verbs below others and in the help, too."""
    for words in (["show", "last"], ["runs", "name", "last", "first"], ["tree", "list"], ["runs", "--json"]):
        before = run_program(["--server", service.url, *words], tmp_path)
        after = run_program([*words, "--server", service.url], tmp_path)
        assert (before.returncode, before.stdout) == (0, after.stdout), before.stderr
    assert "--server URL" in run_program(["--help"], tmp_path).stdout
    assert "Usage: dokimasia tree" in run_program(["--server", service.url, "tree", "--help"], tmp_path).stdout
    for words, said in (
        (["runs", "--server", service.url], "--server can be given once only"),
        (["runs", "--home", "elsewhere"], "two places"),
        (["demo"], "dokimasia demo works on a home of this machine"),
        (["tree", "agreement", "x", "y"], "works on a home of this machine"),
        (["shwo"], "did you mean 'show'?"),
    ):
        ran = run_program(["--server", service.url, *words], tmp_path)
        assert (ran.returncode, ran.stdout) == (2, ""), words
        assert said in ran.stderr
    (tmp_path / "token").write_text("a token that others may read")
    ran = run_program(["--server-token-file", tmp_path / "token", "--server", service.url, "runs"], tmp_path)
    assert "run chmod 600" in ran.stderr


def test_runs_are_listed_by_method(evaluated: str, service: Served, tmp_path: Path) -> None:
    """`runs --method` lists the runs of one method, from a service and from a home."""
    for place in (["--server", service.url], ["--home", service.home]):
        found = json.loads(run_program(["runs", "--method", "evaluate", "--json", *place], tmp_path).stdout)
        assert {one["method"] for one in found} == {"evaluate"}
        none = run_program(["runs", "--method", "duel", *place], tmp_path)
        assert (none.returncode, none.stdout.startswith("no runs of the method duel in ")) == (0, True)


def test_models_of_a_service_are_listed(service: Served, tmp_path: Path) -> None:
    """`models` lists the service's, all or by name, with whether a key is set and without the name of its variable."""
    assert "no model is configured in the home of http" in service.run("models").stdout
    shown = service.run("models", "sim/weak")
    assert (shown.returncode, shown.stdout) == (0, run_program(["models", "sim/weak"], tmp_path).stdout), shown.stderr
    assert [one["name"] for one in json.loads(service.run("models", "sim/weak", "--json").stdout)] == ["sim/weak"]


def test_a_threshold_has_the_same_exit_code(evaluated: str, service: Served, data: Path) -> None:
    """A run that misses what was asked of it ends with 5, also where it was done before."""
    ran = service.run(*EVALUATE, data, "--min-score", "4.9")
    assert (ran.returncode, ran.stdout) == (5, evaluated)
    assert "below --min-score 4.9" in ran.stderr


def test_where_nothing_answers(tmp_path: Path) -> None:
    """An address without a service is one sentence, and one that is none is refused."""
    ran = run_program(["runs", "--server", "http://127.0.0.1:9"], tmp_path)
    assert ran.returncode == 1
    assert "does not answer" in ran.stderr
    ran = run_program(["runs", "--server", "ftp://somewhere"], tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--server is an address" in ran.stderr
