"""The planted world as a whole: balance, data files, and equal bytes for equal seeds."""

import hashlib
from collections import Counter
from itertools import islice
from pathlib import Path

import orjson
import pytest

from dokimasia.simulation import world
from dokimasia.simulation.picture import read_scene
from dokimasia.simulation.scene import DOMAINS, QUESTION_KINDS, find_question
from dokimasia.simulation.world import make_world, write_world

pytestmark = pytest.mark.quick


def tree(folder: Path) -> dict[str, str]:
    """Return every file below a folder by its relative path, as a hash."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_domains_and_kinds_are_in_balance() -> None:
    """In 210 samples each of the 42 pairs of domain and kind occurs five times; each image has two or three questions."""
    pairs = list(make_world(210, 7))
    assert set(Counter((s.domain, q.kind) for s, q in pairs).values()) == {5}
    assert len({q.id for _, q in pairs}) == 210
    assert set(Counter(s.id for s, _ in pairs).values()) == {2, 3}


@pytest.mark.parametrize("n", [0, 1, 20, 61])
def test_any_beginning_of_a_world_is_nearly_balanced(n: int) -> None:
    """A world has as many samples as asked, kinds differ by at most one, domains by at most one scene's questions."""
    pairs = list(make_world(n, 1))
    assert len(pairs) == n
    kinds = Counter(q.kind for _, q in pairs)
    assert max(kinds.values(), default=0) - min((kinds[k] for k in QUESTION_KINDS), default=0) <= 1
    domains = Counter(s.domain for s, _ in pairs)
    assert max(domains.values(), default=0) - min((domains[d] for d in DOMAINS), default=0) <= 3


def test_a_shorter_world_is_the_beginning_of_a_longer_one() -> None:
    """Asking for more samples adds to the same ones."""
    assert list(make_world(10, 3)) == list(islice(make_world(40, 3), 10))


def test_seeds_make_worlds_that_share_no_scene() -> None:
    """Two seeds have no scene's content in common."""
    one = {tuple((f.id, f.value) for f in s.facts) for s, _ in make_world(120, 0)}
    other = {tuple((f.id, f.value) for f in s.facts) for s, _ in make_world(120, 1)}
    assert not one & other


def test_three_hundred_scenes_are_distinct() -> None:
    """Among the scenes of 750 samples no two have the same facts, and few the same six question texts."""
    scenes = {s.id: s for s, _ in make_world(750, 2)}.values()
    assert len(scenes) == 300
    assert len({tuple((f.subject, f.attribute, f.value) for f in s.facts) for s in scenes}) == 300
    assert len({tuple(q.text for q in s.questions) for s in scenes}) > 270


def test_a_data_file_holds_its_samples_and_pictures(tmp_path: Path) -> None:
    """Each row names a picture beside the file whose facts hold the row's question and answer."""
    path = tmp_path / "world" / "samples.jsonl"
    pictures = write_world(path, 12, 5)
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert len(rows) == 12
    assert len({row["id"] for row in rows}) == 12
    assert len(list((path.parent / "images").iterdir())) == pictures == 5
    for row in rows:
        found = read_scene((path.parent / row["image"]).read_bytes())
        assert found is not None
        question = find_question(found[0], row["prompt"])
        assert question is not None
        assert (question.answer, question.kind, question.id) == (row["reference_answer"], row["category"], row["id"])
        assert tuple(row.get("choices", ())) == question.choices
        assert row["meta"] == {"domain": found[0].domain, "scene": found[0].id, "planted": True}


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    """Two data files of the same seed, and their pictures, are equal to the byte; another seed's are not."""
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_world(tmp_path / name / "samples.jsonl", 9, seed)
    assert tree(tmp_path / "a") == tree(tmp_path / "b") != tree(tmp_path / "c")


def test_a_failure_leaves_no_data_file_and_no_part_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When drawing fails half-way, the old data file stays as it was and nothing unfinished lies about."""
    path = tmp_path / "samples.jsonl"
    path.write_text("old\n")
    drawn: list[str] = []

    def failing(scene: world.Scene) -> bytes:
        if len(drawn) == 2:
            raise OSError("disk full")
        drawn.append(scene.id)
        return b"png"

    monkeypatch.setattr(world, "draw_scene", failing)
    with pytest.raises(OSError, match="disk full"):
        write_world(path, 12, 5)
    assert path.read_text() == "old\n"
    assert not list(tmp_path.rglob("*.part"))
