"""Bundles: a run from home to home, into homes that have runs already, and files that are no bundles or were changed."""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.domain.identity import canonical_json
from dokimasia.simulation.world import write_world
from dokimasia.storage.bundles import bundle_file
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.runs import list_runs
from dokimasia.storage.schema.rows import SEAL, row_digest, without_seal
from dokimasia.storage.verification import verify_home

Change = Callable[[dict[str, bytes]], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home of two runs that share half of their calls, and a bundle of the first."""
    folder = tmp_path_factory.mktemp("bundles")
    write_world(folder / "data.jsonl", 6, 1)

    def ask(*words: str) -> None:
        assert run([*words, "--home", str(folder / "home"), "--json"]) == 0

    evaluate = ("evaluate", str(folder / "data.jsonl"), "--judge", "sim/judge")
    ask(*evaluate, "--models", "sim/strong", "--name", "shared", "--tag", "colours")
    ask(*evaluate, "--models", "sim/strong,sim/weak", "--name", "secret")
    ask("bundle", "shared", "-o", str(folder / "shared.dokimasia"))
    return folder


def opened(capfd: pytest.CaptureFixture[str], bundle: Path, home: Path) -> tuple[int, str, str]:
    """The exit code, output and errors of opening a bundle."""
    capfd.readouterr()
    code = run(["open", str(bundle), "--home", str(home)])
    out, err = capfd.readouterr()
    return code, out, err


def printed(capfd: pytest.CaptureFixture[str], home: Path, *words: str) -> str:
    """What a command prints about a home."""
    capfd.readouterr()
    assert run([*words, "--home", str(home)]) == 0
    return capfd.readouterr().out


def changed(bundle: Path, target: Path, change: Change) -> Path:
    """Write a bundle with other content."""
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target


def test_a_colleague_sees_the_same_and_nothing_of_other_runs(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An empty home shows, exports and reports the same, and verifies."""
    home, other = folder / "home", tmp_path / "colleague"
    code, text, _ = opened(capfd, folder / "shared.dokimasia", other)
    assert code == 0
    assert "verified, without a call" in text
    for words in (("show", "shared", "--json"), ("export", "shared"), ("report", "shared", "-o", "-")):
        assert printed(capfd, other, *words) == printed(capfd, home, *words)
    printed(capfd, other, "verify")
    assert [listed["name"] for listed in json.loads(printed(capfd, other, "runs", "--json"))] == ["shared"]
    whole = b"".join(file.read_bytes() for file in other.glob("dokimasia.db*"))
    assert b"sim/weak" not in whole
    assert b"secret" not in whole
    with Home.open(other, write=False) as copy:
        assert copy.all("SELECT count(*) FROM attempts") == [(0,)]


def test_a_home_with_runs_gets_one_more(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Runs that are there stay as they are, a name that is taken is left out, and opening again changes nothing."""
    other = tmp_path / "other"
    write_world(tmp_path / "own.jsonl", 3, 9)
    evaluate = ["evaluate", str(tmp_path / "own.jsonl"), "--judge", "sim/judge", "--models", "sim/weak"]
    assert run([*evaluate, "--name", "shared", "--home", str(other), "--json"]) == 0
    before = printed(capfd, other, "show", "shared", "--json")
    assert opened(capfd, folder / "shared.dokimasia", other)[0] == 0
    assert printed(capfd, other, "show", "shared", "--json") == before
    listed = json.loads(printed(capfd, other, "runs", "--json"))
    assert sorted((entry["name"], entry["tags"]) for entry in listed) == [("", ["colours"]), ("shared", [])]
    printed(capfd, other, "verify")
    database = (other / "dokimasia.db").read_bytes()
    code, text, _ = opened(capfd, folder / "shared.dokimasia", other)
    assert (code, "has run" in text) == (0, True)
    assert (other / "dokimasia.db").read_bytes() == database


def test_comments_go_along(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A comment of the run is added beside those of a home that has comments of its own."""
    home, other = tmp_path / "home", tmp_path / "other"
    evaluate = ["evaluate", str(folder / "data.jsonl"), "--judge", "sim/judge", "--json"]
    for place, model in ((home, "sim/strong"), (other, "sim/weak")):
        assert run([*evaluate, "--models", model, "--name", model[4:], "--home", str(place)]) == 0
        sample = json.loads((folder / "data.jsonl").read_text(encoding="utf-8").splitlines()[0])["id"]
        printed(capfd, place, "annotate", "comment", "last", sample, f"of {model}")
    printed(capfd, home, "bundle", "last", "-o", str(tmp_path / "run"))
    assert opened(capfd, tmp_path / "run", other)[0] == 0
    for model in ("sim/strong", "sim/weak"):
        assert f"of {model}" in printed(capfd, other, "annotate", "comments", model[4:])
    printed(capfd, other, "verify")


def test_the_same_run_gives_the_same_bytes(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A bundle that is written again has the same bytes."""
    printed(capfd, folder / "home", "bundle", "shared", "-o", str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (folder / "shared.dokimasia").read_bytes()


def _edit(name: str, old: bytes, new: bytes) -> Change:
    def change(files: dict[str, bytes]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return change


def _consistently(name: str, old: bytes, new: bytes) -> Change:
    """Change a row and the hash of its file, as somebody would who wants other figures."""

    def change(files: dict[str, bytes]) -> None:
        _edit(name, old, new)(files)
        manifest = json.loads(files["manifest.json"])
        table = name.removeprefix("rows/").removesuffix(".jsonl")
        manifest["tables"][table]["sha256"] = hashlib.sha256(files[name]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()

    return change


def _image(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("blobs/"))
    files[name] += b"x"


def _more(files: dict[str, bytes]) -> None:
    files["../outside"] = b"x"


def _less(files: dict[str, bytes]) -> None:
    del files[next(name for name in files if name.startswith("blobs/"))]


def _newer(files: dict[str, bytes]) -> None:
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | {"schema_version": 10_000}).encode()


def _table(files: dict[str, bytes]) -> None:
    manifest = json.loads(files["manifest.json"])
    manifest["tables"]["sqlite_master"] = manifest["tables"].pop("texts")
    files["manifest.json"] = json.dumps(manifest).encode()
    files["rows/sqlite_master.jsonl"] = files.pop("rows/texts.jsonl")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_edit("rows/results.jsonl", b'"repeat":0', b'"repeat":1'), "rows/results.jsonl is not as it was written"),
        (_consistently("rows/results.jsonl", b'"repeat":0', b'"repeat":1'), "it was changed after it was written"),
        (_consistently("rows/responses.jsonl", b'"text":"', b'"text":"Not '), "no longer has the id"),
        (_consistently("rows/results.jsonl", b'{"', b'{"x) VALUES (1); --":1,"'), "is no row"),
        (_consistently("rows/results.jsonl", b"\n", b"\nnothing\n"), "is no row"),
        (_image, "has other bytes"),
        (_more, "its files are not those that its manifest names"),
        (_less, "its files are not those that its manifest names"),
        (_newer, "newer version"),
        (_table, "there is no table"),
        (lambda files: files.pop("manifest.json") and None, "is not a bundle"),
        (lambda files: files.update({"manifest.json": b"[1]"}), "its manifest cannot be read"),
    ],
)
def test_a_changed_bundle_is_refused_whole(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], change: Change, problem: str
) -> None:
    """The error names what is wrong, and no home is made."""
    bundle = changed(folder / "shared.dokimasia", tmp_path / "changed", change)
    code, text, errors = opened(capfd, bundle, tmp_path / "home")
    assert (code, text) == (2, "")
    assert problem in errors
    assert [path.name for path in tmp_path.iterdir()] == ["changed"]


def test_a_run_of_a_bundle_names_no_file_of_this_machine(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever may name a file that a run was given gets none by a bundle that was made for it."""

    def change(files: dict[str, bytes]) -> None:
        row = json.loads(files["rows/runs.jsonl"])
        request = json.loads(row["options"])
        request["request"]["data"] = "/etc/passwd"
        row["options"] = canonical_json(request).decode()
        row[SEAL] = row_digest("runs", without_seal(row))
        old = files["rows/runs.jsonl"]
        _consistently("rows/runs.jsonl", old, json.dumps(row).encode() + b"\n")(files)

    bundle = changed(folder / "shared.dokimasia", tmp_path / "changed", change)
    code, _, errors = opened(capfd, bundle, tmp_path / "home")
    assert code == 0, errors
    with Home.open(tmp_path / "home", write=False) as home:
        (stored,) = list_runs(home)
        assert stored.request["data"] == "passwd"
        assert all(not check.findings for check in verify_home(home))


def test_the_file_has_the_name_of_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without -o the bundle has the run's name, with hyphens in place of spaces."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder / "home", tmp_path / "home")
    for name, file in (("shared", "shared.dokimasia"), ("a b", "a-b.dokimasia")):
        printed(capfd, tmp_path / "home", "runs", "name", "shared", name)
        assert printed(capfd, tmp_path / "home", "bundle", name).startswith(f"{file}: run ")
        assert (tmp_path / file).is_file()
        printed(capfd, tmp_path / "home", "runs", "name", name, "shared")


async def test_the_file_lies_in_the_working_folder(folder: Path, tmp_path: Path) -> None:
    """A name with slashes, as a bundle may bring one, leads nowhere else."""
    shutil.copytree(folder / "home", tmp_path / "home")
    with Home.open(tmp_path / "home", write=True) as home:
        named, *_ = list_runs(home)
        await name_run(home, named.id, "../../x", ())
        assert bundle_file(home, named) == Path("..-..-x.dokimasia")


def test_no_bundle_and_no_finished_run(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Any other file is refused, a truncated bundle, and a folder that does not exist."""
    truncated = tmp_path / "truncated"
    truncated.write_bytes((folder / "shared.dokimasia").read_bytes()[:-100])
    for file, problem in ((folder / "data.jsonl", "is not a bundle"), (truncated, "is damaged")):
        code, _, errors = opened(capfd, file, tmp_path / "home")
        assert (code, problem in errors) == (2, True)
    assert run(["bundle", "shared", "--home", str(folder / "home"), "-o", str(tmp_path / "no" / "file")]) == 2
    assert "cannot be written" in capfd.readouterr().err
    assert not (tmp_path / "home").exists()
