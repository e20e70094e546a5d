"""Data sets of the Hugging Face Hub by name: parts of a name, revisions, splits, images as they are, errors with a way out."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.datasets import hub, open_dataset, parse_mapping
from dokimasia.domain.hub import HubName, HubPath, as_data_path, hub_name
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound

from .conftest import Blobs, encoded

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PNG, JPEG = encoded(size=(8, 8)), encoded("JPEG", size=(8, 8))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hf://org/name", HubName("org/name")),
        ("hf://org/name:test", HubName("org/name", split="test")),
        ("hf://org/na.me/a config:dev@main", HubName("org/na.me", "a config", "dev", "main")),
        ("hf://org/name@refs/pr/1", HubName("org/name", revision="refs/pr/1")),
    ],
)
def test_name(text: str, parts: HubName) -> None:
    """A name has its parts, is written as it was read, and stays itself where paths are made absolute."""
    path = as_data_path(text)
    assert hub_name(path) == parts
    assert str(path) == str(path.absolute()) == str(parts) == text
    assert path.name == text.removeprefix("hf://").partition("@")[0]


@pytest.mark.parametrize("text", ["hf://name", "hf://", "hf://org/name:test[:5]", "hf://org/name:", "hf://../x"])
def test_no_name(text: str) -> None:
    """Whatever is no name is refused, with the form that a name has."""
    with pytest.raises(ConfigError, match=r"hf://ORG/NAME\[/CONFIG\]\[:SPLIT\]\[@REVISION\]"):
        hub_name(as_data_path(text))


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages the message names the extra."""
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r"pip install 'dokimasia\[hf\]'"):
        list(open_dataset(HubPath("hf://org/name")))


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Publishes local Parquet files as the data set `org/name`, which the real library loads from its folder."""
    datasets = pytest.importorskip("datasets")
    load, list_configs = datasets.load_dataset, datasets.get_dataset_config_names
    folder = tmp_path / "published"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(hub, "commit_of", lambda name: COMMIT)

    def load_folder(name: str, config: str | None, *, revision: str, streaming: bool) -> Any:
        assert (name, revision, streaming) == ("org/name", COMMIT, True)
        return load(str(folder), config, streaming=True)

    monkeypatch.setattr(datasets, "load_dataset", load_folder)
    monkeypatch.setattr(datasets, "get_dataset_config_names", lambda name, revision: list_configs(str(folder)))

    def publish(rows: list[dict[str, Any]], *, images: tuple[str, ...] = (), split: str = "test") -> Path:
        table = datasets.Dataset.from_list(rows)
        for name in images:
            feature = datasets.Image()
            table = table.cast_column(name, datasets.List(feature) if isinstance(rows[0][name], list) else feature)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        table.to_parquet(folder / "data" / f"{split}-00000-of-00001.parquet")
        return HubPath("hf://org/name")

    return publish


def samples(path: Path, *mapping: str, **how: Any) -> list[Sample]:
    """Return the samples of a data set that has nothing wrong."""
    found = list(open_dataset(path, mapping=parse_mapping(mapping), **how))
    assert all(isinstance(one, Sample) for one in found), found
    return [one for one in found if isinstance(one, Sample)]


def picture(data: bytes, name: str = "a.png") -> dict[str, Any]:
    """Return a cell with an image."""
    return {"bytes": data, "path": name}


def test_rows_become_samples(published: Callable[..., Path], blobs: Blobs) -> None:
    """Images keep their bytes, letters become options, other columns `meta`; without an id rows are numbered."""
    path = published(
        [
            {"question": "Which?", "A": "x", "B": "y", "answer": "B", "image_1": picture(PNG), "level": 2},
            {"question": "And?", "A": "x", "B": "y", "answer": "A", "image_1": picture(JPEG, "b.jpg"), "level": 3},
        ],
        images=("image_1",),
    )
    first, second = samples(path, blobs=blobs)
    assert (first.id, first.prompt, first.reference_answer, first.choices) == ("1", "Which?", "y", ("x", "y"))
    assert first.meta == {"level": 2}
    assert blobs.get(first.images[0].sha256) == PNG
    assert blobs.get(second.images[0].sha256) == JPEG


def test_lists_of_images_and_limit(published: Callable[..., Path]) -> None:
    """Lists of images are read in order, and no row after the limit is read."""
    rows = [{"id": "a", "question": "?", "images": [picture(PNG), picture(JPEG, "b.jpg")]}]
    path = published([*rows, {"id": "b", "question": "?", "images": [picture(b"broken")]}], images=("images",))
    (sample,) = samples(path, limit=1)
    assert [image.media_type for image in sample.images] == ["image/png", "image/jpeg"]


def test_mapping(published: Callable[..., Path]) -> None:
    """A mapping names columns and templates; a column that a template uses is no field by itself."""
    path = published([{"pid": "p1", "question": "Which?", "options": "['x', 'y']", "answer": "B", "kind": "maths"}])
    (sample,) = samples(path, "id=pid,category=kind", r"prompt={question}\n{options}")
    assert (sample.id, sample.category, sample.prompt) == ("p1", "maths", "Which?\nA. x\nB. y")
    assert (sample.choices, sample.reference_answer) == ((), "B")
    with pytest.raises(DataError, match="has no column 'picture', which --map names; it has pid, question"):
        samples(path, "image=picture")


def test_unknown_split_lists_those_there_are(published: Callable[..., Path]) -> None:
    """With several splits one has to be named, and the message lists them."""
    published([{"id": "a", "question": "?"}], split="train")
    path = published([{"id": "b", "question": "?"}], split="validation")
    for name in (path, HubPath("hf://org/name:dev")):
        with pytest.raises(NotFound, match=r"name one of train, validation, as in hf://org/name:train"):
            samples(name)
    assert [sample.id for sample in samples(HubPath("hf://org/name:validation"))] == ["b"]


def test_unknown_configuration(published: Callable[..., Path]) -> None:
    """The message on a configuration that is not there lists those that are."""
    published([{"id": "a", "question": "?"}])
    with pytest.raises(NotFound, match="no configuration 'art'; name one of default"):
        samples(HubPath("hf://org/name/art:test"))


def test_hub_refuses(published: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Hub refuses becomes an error with the way out: a login, another name, or another time."""
    errors = pytest.importorskip("huggingface_hub.errors")
    path = published([{"id": "a", "question": "?"}])
    response: Any = SimpleNamespace(headers={}, status_code=403, request=None, text="")
    cases = [
        (errors.GatedRepoError("gated", response=response), ConfigError, r"org/name is gated.*`hf auth login`"),
        (errors.RepositoryNotFoundError("no", response=response), NotFound, "no such data set, or it is private"),
        (errors.RevisionNotFoundError("no", response=response), NotFound, "no revision ''"),
        (errors.OfflineModeIsEnabled("offline"), DataError, "cannot be reached"),
    ]
    for error, kind, text in cases:

        def refuse(name: HubName, error: Exception = error) -> str:
            raise error

        monkeypatch.setattr(hub, "commit_of", refuse)
        with pytest.raises(kind, match=text):
            list(open_dataset(path))


def test_evaluation_records_the_commit(
    published: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An evaluation over a name stores the commit with its command, and its data are named without it."""
    published([{"id": "a", "question": "How many?", "answer": "3", "image": picture(PNG)}], images=("image",))
    home = str(tmp_path / "home")
    words = ["evaluate", "hf://org/name:test@main", "--judge", "sim/judge", "--models", "sim/strong", "--home", home]
    assert run([*words, "--map", "reference_answer=answer", "--name", "hub"]) == 0
    capfd.readouterr()
    assert run(["runs", "--home", home, "--json"]) == 0
    listed = capfd.readouterr().out
    assert f"hf://org/name:test@{COMMIT}" in listed
    assert '"org/name:test"' in listed


def test_mapping_of_files(tmp_path: Path) -> None:
    """JSON lines and CSV take the same mapping, and give the same sample."""
    (tmp_path / "a.jsonl").write_text(
        '{"pid": "p1", "query": "Which?", "options": ["x", "y"], "key": "x", "kind": "m"}\n'
    )
    (tmp_path / "a.csv").write_text('pid,query,options,key,kind\np1,Which?,"[""x"", ""y""]",x,m\n')
    mapping = ("id=pid,prompt=query,reference_answer=key", "category=kind")
    lines, table = (samples(tmp_path / name, *mapping) for name in ("a.jsonl", "a.csv"))
    assert lines == table
    assert (lines[0].choices, lines[0].meta) == (("x", "y"), {})
    with pytest.raises(DataError, match="no row has 'nothing', which --map names"):
        list(open_dataset(tmp_path / "a.jsonl", mapping={"id": "pid", "prompt": "query", "category": "nothing"}))


def test_mapping_of_a_folder(tmp_path: Path) -> None:
    """A format without columns takes no mapping."""
    (tmp_path / "a.png").write_bytes(PNG)
    with pytest.raises(ConfigError, match="--map names the columns of"):
        list(open_dataset(tmp_path, prompt="?", mapping={"id": "x"}))
