"""Folders of prompts in place of the shipped ones: by name, with the same inputs, and refused with the file's name."""

import os
from pathlib import Path

import pytest

import dokimasia.prompts
from dokimasia.errors import ConfigError
from dokimasia.prompts import default_library, recognise, render
from dokimasia.prompts.library import MOST_FILES

SHIPPED = Path(dokimasia.prompts.__file__).parent


def write(folder: Path, name: str = "solver", **changes: str) -> Path:
    """Write a folder with one shipped prompt, some of its text replaced; return the folder."""
    text = next(SHIPPED.rglob(f"{name}.md")).read_text()
    for old, new in changes.items():
        text = text.replace(old.replace("__", ": "), new)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    return folder


def test_a_prompt_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    """The replacement is asked by, recognised, and recorded by its version and hash; the others stay."""
    library = default_library().overridden(write(tmp_path / "mine", version__5="version: 7"))
    assert library.get("solver").version == 7
    now, before = library.identity(), default_library().identity()
    assert now["solver"].startswith("7:")
    assert {name for name in now if now[name] != before[name]} == {"solver"}
    rendered = render("solver", {"question": "Why?"}, library=library)
    found = recognise(rendered.messages, library=library)
    assert found is not None
    assert (found.name, found.version) == ("solver", 7)


def test_later_folders_win(tmp_path: Path) -> None:
    """Of two folders with the same prompt the later one is used."""
    first = write(tmp_path / "first", version__5="version: 8")
    second = write(tmp_path / "second", version__5="version: 9")
    assert default_library().overridden(first, second).get("solver").version == 9


def test_other_inputs_are_refused(tmp_path: Path) -> None:
    """A replacement with another input, or one that is not fenced any more, names the file and both lists of inputs."""
    other = write(tmp_path / "other", reference_answer="answer_key")
    with pytest.raises(
        ConfigError, match=r"other/solver\.md: takes other inputs .* it declares .*answer_key \(optional\)"
    ):
        default_library().overridden(other)
    bare = write(tmp_path / "bare", "checkpoints", response__required="response: plain")
    with pytest.raises(ConfigError, match=r"takes .*response \(required\); it declares .*response \(plain\)"):
        default_library().overridden(bare)


def test_a_file_that_replaces_nothing_is_refused(tmp_path: Path) -> None:
    """A misspelt name is an error with the nearest name, unless more prompts are welcome."""
    folder = write(tmp_path / "mine", name__solver="name: solvr")
    (folder / "solver.md").rename(folder / "solvr.md")
    with pytest.raises(
        ConfigError,
        match=r"solvr\.md: replaces nothing: no prompt is called 'solvr'; did you mean 'solver'\? `dokimasia prompts` lists all",
    ):
        default_library().overridden(folder)
    assert "solvr" in default_library().overridden(folder, more=True).names()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", r"solver\.md: not UTF-8"),
        (b"---\nname: [\n---\n", r"solver\.md: the front matter is not valid YAML"),
        (b"---\nname: solver\nname: solver\n---\n", r"solver\.md: line 2: the name 'name' stands twice"),
        (b"---\ninputs: &a [*a]\n---\n", r"solver\.md: line 1: the YAML of the front matter may not refer to itself"),
        (b"---\nversion: " + b"1:" * 200 + b"1\n---\n", r"solver\.md: line 1: a number of 401 signs"),
        (b"---\nversion: " + b"7" * 5_000 + b"\n---\n", r"solver\.md: line 1: a number of 5,000 signs"),
        (
            b"---\nversion: [" + b"1," * 100_000 + b"1]\n---\n",
            r"solver\.md: 200,012 characters are too many for a front matter, which has 8,192 at most",
        ),
        (b"---\ninputs: " + b"[" * 5_000 + b"\n---\n", r"solver\.md: line 1: .* nested more deeply than 20"),
        (b"---\nversion: " + b"1:" * 200_000 + b"1\n---\n", r"solver\.md: 400,.* bytes are too many for a prompt"),
        (b"no head", r"solver\.md: a prompt begins with a front matter"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    """Whatever is wrong with a file, the error names it."""
    (tmp_path / "solver.md").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        default_library().overridden(tmp_path)


def test_a_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    """A folder that is not there, or is empty, is an error and not silently the shipped prompts."""
    with pytest.raises(ConfigError, match="no such folder of prompts"):
        default_library().overridden(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"no prompt in it; a prompt is a file such as answer_again\.md"):
        default_library().overridden(tmp_path)


def test_a_pipe_in_a_folder_of_prompts_is_refused(tmp_path: Path) -> None:
    """What is no file is an error that names it, and is never waited for."""
    os.mkfifo(tmp_path / "checkpoints.md")
    with pytest.raises(ConfigError, match=r"checkpoints\.md: this is no file"):
        default_library().overridden(tmp_path)


def test_a_folder_of_too_many_prompts_is_refused(tmp_path: Path) -> None:
    """A folder has a limit, before any of its files is read."""
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.md").touch()
    with pytest.raises(ConfigError, match="501 prompts are too many"):
        default_library().overridden(tmp_path)
