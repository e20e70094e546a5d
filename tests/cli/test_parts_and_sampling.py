"""`--subsample`, and sampling settings of a run: drawn, sent, stored, refused, and warned of."""

import json
from collections import Counter
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs, load_samples

pytestmark = pytest.mark.quick

ASKED = ["evaluate", "data.jsonl", "--models", "sim/strong,sim/weak", "--json"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty questions sorted by category: twenty of one, ten of two others."""
    monkeypatch.chdir(tmp_path)
    categories = ["a"] * 20 + ["b"] * 6 + ["c"] * 4
    lines = [
        {
            "id": f"q{number:02}",
            "prompt": f"What is {number} + 1?",
            "reference_answer": str(number + 1),
            "category": category,
        }
        for number, category in enumerate(categories)
    ]
    Path("data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def drawn(home: str, *options: str) -> list[tuple[str, str | None]]:
    """The samples of a run with these options, in a home of its own: name and category."""
    assert run([*ASKED, *options, "--home", home]) == 0
    with Home.open(Path(home), write=False) as opened:
        return [(sample.id, sample.category) for sample in load_samples(opened, list_runs(opened)[0].id)]


def test_a_subsample_is_balanced_over_categories_and_seeded(capsys: pytest.CaptureFixture[str]) -> None:
    """The draw takes as many of every category as it can, in the order of the file; the seed alone changes it."""
    first = drawn("one", "--subsample", "9")
    assert Counter(category for _, category in first) == {"a": 3, "b": 3, "c": 3}
    assert first == sorted(first)
    assert drawn("two", "--subsample", "9") == first
    assert drawn("three", "--subsample", "9", "--seed", "1") != first
    assert {category for _, category in drawn("four", "--subsample", "9", "--limit", "20")} == {"a"}
    assert len(drawn("five", "--subsample", "99")) == 30
    assert run([*ASKED, "--subsample", "0", "--home", "six"]) == 2


def test_a_drawn_sample_has_its_image_where_others_share_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Images that drawn questions share with questions that are not drawn are stored, and no other images."""
    data = tmp_path / "pictures" / "world.jsonl"
    write_world(data, 20, 2)
    asked = ["evaluate", str(data), "--models", "sim/strong", "--subsample", "6", "--home", "home"]
    assert run([*asked, "--json"]) == 0
    with Home.open(Path("home"), write=False) as home:
        images = {image.sha256 for sample in load_samples(home, list_runs(home)[0].id) for image in sample.images}
    stored = {path.name for path in Path("home", "blobs").rglob("*") if path.is_file()}
    assert images == stored
    assert run(["verify", "--home", "home"]) == 0


def test_sampling_settings_are_sent_with_every_call_and_make_another_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The ledger's requests have the settings, and without them none; the run is another, and its command says them."""
    settings = ["--temperature", "0", "--top-p", "0.5", "--max-reply-tokens", "700"]
    for options in ([], settings):
        assert run([*ASKED, "--judge", "sim/judge", "--limit", "2", *options, "--home", "home"]) == 0
    with Home.open(Path("home"), write=False) as home:
        sent = {
            (settings.get("temperature"), settings.get("top_p"), settings.get("max_tokens"))
            for (call,) in home.all("SELECT request FROM calls")
            for settings in [json.loads(call)["sampling"]]
        }
        newest, oldest = list_runs(home)
    assert sent == {(None, None, None), (0.0, 0.5, 700)}
    assert "--temperature 0.0 --top-p 0.5 --max-reply-tokens 700" in newest.command
    assert "--temperature" not in oldest.command
    for faulty in (["--temperature", "-1"], ["--top-p", "0"], ["--max-reply-tokens", "0"]):
        assert run([*ASKED, *faulty, "--home", "home"]) == 2


def test_a_published_protocol_that_is_not_greedy_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    """Creation-MMBench decodes greedily: silence where that is sent, a note where another temperature is."""
    asked = ["duel", "data.jsonl", "--models", "sim/weak", "--baseline", "sim/strong", "--judge", "sim/judge"]
    asked += ["--protocol", "published", "--dry-run", "--json", "--home", "home"]
    for options, warned in (([], False), (["--temperature", "0"], False), (["--temperature", "0.7"], True)):
        capsys.readouterr()
        assert run([*asked, *options]) == 0
        notes = " ".join(json.loads(capsys.readouterr().out)["notes"])
        assert ("Creation-MMBench decodes greedily" in notes) == warned
        assert ("sim/weak (0.7)" in notes) == warned
