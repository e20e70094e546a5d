"""`dokimasia decide` on perturbations: labels by keys, on files and on a page, alone and by two people."""

import re
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli.decide import command
from dokimasia.cli.main import run as dokimasia
from dokimasia.storage.home import Home
from tests.perturbed_home import perturbed_home, pictured_home

KEYS = {"v": "valid", "i": "score_invariant", "x": "incorrect", "n": "not_relevant", "g": "gold_wrong", "u": "not_sure"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a run that perturbed gold answers to two pictures."""
    perturbed_home(tmp_path / "home", scenes=2)[0].close()
    return tmp_path / "home"


def _go(home: Path, keys: str, *options: str, who: str = "anna", colour: bool = False) -> str:
    arguments = ["last", "--home", str(home), "--who", who, *options]
    env = {"FORCE_COLOR": "1", "TERM": "xterm-256color"} if colour else {}
    result = CliRunner().invoke(command, arguments, input=keys, env=env, color=colour, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def _figures(home: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    capsys.readouterr()
    assert dokimasia(["decide", "last", "--home", str(home), "--json"]) == 0
    return orjson.loads(capsys.readouterr().out)


def _export(home: Path, file: Path, who: str = "anna") -> list[dict]:
    assert dokimasia(["decide", "last", "--home", str(home), "--who", who, "--export", str(file)]) == 0
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def _import(home: Path, file: Path, who: str = "anna") -> int:
    return dokimasia(["decide", "last", "--home", str(home), "--who", who, "--import", str(file)])


def test_one_key_is_one_label(home: Path, capsys) -> None:
    """Each of the five keys labels, `b` goes back to change one's mind, and progress is counted."""
    count = _figures(home, capsys)["items"]
    output = _go(home, "\n".join([*KEYS, "b", "v", "q"]) + "\n")
    assert f"1 of {count}" in output
    assert "7 decided in this invocation" in output
    states = _figures(home, capsys)["states"]
    assert states == {"waiting": count - 6, **dict.fromkeys(KEYS.values(), 1), "valid": 2, "not_sure": 0}


def test_what_helps_to_decide_is_shown(home: Path) -> None:
    """What was asked, the image as a file, the gold answer, the change marked and in words, and the dimension are printed."""
    output = " ".join(_go(home, "q\n").split())
    assert "asked What is to be seen?" in output
    assert "image: /" in output
    assert "gold What this is about" in output
    assert "[-" in output
    assert "{+" in output
    assert "meant as Attribute Distortion: Something that is rightly named" in output
    assert "said to be The" in output


def test_in_colour_the_change_has_its_signs_too(home: Path) -> None:
    """On a terminal with colours words that were taken out and put in have a colour beside their signs."""
    output = _go(home, "q\n", colour=True)
    assert re.search(r"\x1b\[[0-9;]*31m\[-", output)
    assert re.search(r"\x1b\[[0-9;]*32m\{\+", output)


def test_an_edit_of_a_perturbation_is_refused(home: Path) -> None:
    """Keys of captions are answered with what can be decided; an unknown key, with what the labels mean."""
    output = " ".join(_go(home, "e\nd 1\na\nr\nwhat\nq\n").split())
    assert output.count("a perturbation is labelled, and not accepted, edited or rejected") == 4
    assert "x incorrect: the change is not there" in output
    assert "0 decided" in output


def test_an_export_for_oneself_says_how_others_get_a_page(home: Path, tmp_path: Path, capsys) -> None:
    """Without --who the page is the user's own, and the option that makes one for another is named."""
    assert dokimasia(["decide", "last", "--home", str(home), "--export", str(tmp_path / "form.jsonl")]) == 0
    assert "--who NAME makes it for another person" in capsys.readouterr().err
    _export(home, tmp_path / "anna.jsonl")
    assert "--who NAME" not in capsys.readouterr().err


def test_a_probe_of_the_last_run_is_titled_by_its_id(home: Path, capsys) -> None:
    """The word `last` means another run later on, so the data are called by the run's id."""
    words = ["probe", "last", "--judges", "sim/judge-blind", "--unchecked", "--evaluators", "single-axes"]
    run = _figures(home, capsys)["run"]
    capsys.readouterr()
    assert dokimasia([*words, "--home", str(home)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"· {run} ·" in out
    assert "· last ·" not in out


def test_labels_on_files_and_in_the_terminal_are_alike(home: Path, tmp_path: Path, capsys) -> None:
    """A form filled in by name, taken in twice, gives the figures that the same keys give; each line names its image."""
    rows = _export(home, tmp_path / "form.jsonl")
    assert {row["kind"] for row in rows} == {"perturbation"}
    assert all(row["label"] is None and "new_text" not in row for row in rows)
    assert all((tmp_path / name).read_bytes() for row in rows for name in row["images"])
    labels = [list(KEYS.values())[number % len(KEYS)] for number in range(len(rows))]
    filled = tmp_path / "filled.jsonl"
    filled.write_bytes(
        b"\n".join(orjson.dumps(row | {"label": label}) for row, label in zip(rows, labels, strict=True))
    )
    for _ in range(2):
        assert _import(home, filled, who="ben") == 0
    by_file = _figures(home, capsys)
    other = tmp_path / "other"
    perturbed_home(other, scenes=2)[0].close()
    keys = [key for number in range(len(rows)) for key in [list(KEYS)[number % len(KEYS)]]]
    _go(other, "\n".join(keys) + "\n", who="ben")
    by_hand = _figures(other, capsys)
    assert by_file == by_hand
    assert by_file["people"] == {"ben": len(rows)}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"item": "nobody", "label": "valid"}, "no item 'nobody'"),
        ({"item": "ITEM", "label": "good"}, "line 1: label"),
        ({"item": "ITEM", "action": "accept"}, "a perturbation is labelled"),
        ({"item": "ITEM", "action": "edit", "new_text": "x"}, "a perturbation is labelled"),
        ({"item": "ITEM", "action": "delete", "delete": [1]}, "a perturbation is labelled"),
        ({"item": "ITEM", "action": "valid", "label": "valid"}, "both action and label"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_taken(home: Path, tmp_path: Path, capsys, row: dict, said: str) -> None:
    """One line that cannot be used stops the whole file before anything is decided."""
    good, bad, *_ = _export(home, tmp_path / "form.jsonl")
    file = tmp_path / "bad.jsonl"
    row = row | {"item": row["item"].replace("ITEM", bad["item"])}
    file.write_bytes(b"\n".join(map(orjson.dumps, [row, good | {"label": "valid"}])))
    assert _import(home, file) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert _figures(home, capsys)["people"] == {}


def test_a_second_person_goes_through_what_is_labelled(home: Path, capsys) -> None:
    """With --second somebody else labels what has a label, and the two have an agreement."""
    count = _figures(home, capsys)["items"]
    _go(home, "v\n" * (count - 1) + "x\n")
    output = _go(home, "v\n" * count, "--second", who="ben")
    assert "anna and ben" in output
    assert "Krippendorff's alpha" in output
    figures = _figures(home, capsys)
    assert figures["labels"]["agreement"]["pairs"][0]["same"]["k"] == count - 1
    assert figures["states"]["valid"] == count - 1
    assert figures["agreement"][0]["n"] == count


def test_the_page_has_what_the_person_has_not_labelled(home: Path, tmp_path: Path, capsys) -> None:
    """The page holds its images and loads nothing; it says nothing of what others labelled."""
    _go(home, "v\nx\nq\n", who="anna")
    count = _figures(home, capsys)["items"]
    pages = {}
    for who in ("anna", "ben"):
        _export(home, tmp_path / who / "form.jsonl" if (tmp_path / who).mkdir() is None else tmp_path, who=who)
        pages[who] = (tmp_path / who / "form.html").read_text()
    forms = {
        who: orjson.loads(page.partition('id="form">')[2].partition("</script>")[0]) for who, page in pages.items()
    }
    assert {who: len(form["items"]) for who, form in forms.items()} == {"anna": count - 2, "ben": count}
    assert forms["ben"]["adds"] == {"who": "ben"}
    assert '"anna"' not in pages["ben"]
    assert all(uri.startswith("data:image/png;base64,") for uri in forms["ben"]["images"].values())


def test_made_pictures_stand_side_by_side(tmp_path: Path) -> None:
    """Of an image made by a prompt the page has the gold and the changed one beside each other, and the edit."""
    pictured_home(tmp_path / "home")[0].close()
    rows = _export(tmp_path / "home", tmp_path / "form.jsonl")
    assert rows[0]["instruction"] == "Make the square blue."
    assert len(rows[0]["images"]) == 2
    page = (tmp_path / "form.html").read_text()
    form = orjson.loads(page.partition('id="form">')[2].partition("</script>")[0])
    assert [name for name, _ in form["items"][0]["compared"]] == ["Gold image", "Changed image"]
    assert form["items"][0]["images"] == []
    output = " ".join(_go(tmp_path / "home", "v\nq\n").split())
    assert "gold image: /" in output
    assert "changed image: /" in output
    assert "edit Make the square blue." in output


def test_labels_travel_with_their_files(home: Path, tmp_path: Path) -> None:
    """What was labelled in one home and handed on stands in another with the same people and times."""
    _go(home, "v\ni\nx\nq\n")
    _export(home, tmp_path / "form.jsonl")
    other = tmp_path / "other"
    perturbed_home(other, scenes=2)[0].close()
    assert _import(other, tmp_path / "form.jsonl") == 0
    _export(other, tmp_path / "back.jsonl")
    back = [orjson.loads(line)["decisions"] for line in (tmp_path / "back.jsonl").read_bytes().splitlines()]
    assert back == [orjson.loads(line)["decisions"] for line in (tmp_path / "form.jsonl").read_bytes().splitlines()]
    with Home.open(other, write=False) as opened:
        assert opened.all("SELECT count(*) FROM decisions") == [(3,)]


def test_labels_of_one_run_are_taken_in_for_another(home: Path, tmp_path: Path, capsys) -> None:
    """A run made anew of more samples takes the labels of the items that it shares with the first, and waits for the rest."""
    _go(home, "v\ni\nx\nq\n")
    _export(home, tmp_path / "form.jsonl")
    larger = tmp_path / "larger"
    perturbed_home(larger, scenes=3, id="perturbs1")[0].close()
    assert _import(larger, tmp_path / "form.jsonl") == 0
    states = _figures(larger, capsys)["states"]
    assert (states["valid"], states["score_invariant"], states["incorrect"]) == (1, 1, 1)
    assert states["waiting"] > _figures(home, capsys)["states"]["waiting"]
