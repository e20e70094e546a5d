"""Requests as the service takes them: every field of every method's request is decided, and no path gets out."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from dokimasia.domain.identity import Value
from dokimasia.errors import InputError
from dokimasia.runs.catalogue import OWN, own_method
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.requests import DataRequest, Option, RunOrFile, RunRequest, option_of
from dokimasia.service.request_parsing import (
    NEVER,
    files_are_decidable,
    holds_path,
    inline_references,
    invocation_schema,
    read_request,
    request_schema,
    settable_over_http,
)
from dokimasia.service.routes.starting import GoneOn, Retried
from dokimasia.service.uploads import RequestFiles
from dokimasia.storage.home import Home
from tests.report.conftest import Finished

pytestmark = pytest.mark.quick

TEXTS: dict[str, str] = {
    "ask": "one of a list",
    "baseline": "a model's name",
    "by": "one of a list",
    "budgets": "reasoning efforts",
    "categories": "names of a tree's categories",
    "choose_judge": "models' names",
    "coder": "a model's name",
    "columns": "names of fields and columns in the data",
    "checker": "a model's name, or none",
    "criteria": "the name of a collection in the home",
    "criteria_count": "a number or a range",
    "describer": "a model's name",
    "dimensions": "names of the package's dimensions",
    "editor": "a model's name",
    "embedding": "a model's name",
    "evaluators": "names of ways to ask",
    "gold_field": "the name of a field in the data",
    "gold_writer": "a model's name",
    "graph": "the name of an installed plug-in",
    "judge": "a model's name",
    "judges": "models' names",
    "max_failures": "a number or a share",
    "methods": "names of ways to judge",
    "models": "models' names",
    "name": "what the run is called",
    "new_references": "a model's name",
    "node": "a step of a graph",
    "onto": "a tree of the home",
    "panel": "models' names",
    "peers": "models' names",
    "perturber": "a model's name",
    "pool": "models' names",
    "prompt": "a question, put to models as it is",
    "reader": "a model's name",
    "run": "a run of the home",
    "tags": "what the run is called",
    "text_models": "models' names",
    "thresholds": "numbers by domain",
    "tools": "names of the package's tools",
    "tree": "a tree of the home",
}
"""What each field of text means: none of these is ever taken for a file, nor for an address."""


def requests() -> dict[str, type[Any]]:
    """Everything that is read from the JSON of a request about runs."""
    return {name: own_method(name).request for name in OWN} | {
        "fork": ForkRequest,
        "resume": GoneOn,
        "retry": Retried,
    }


@pytest.mark.parametrize("name", list(requests()))
def test_every_field_of_every_request_is_decided(name: str) -> None:
    """A field is refused over HTTP, or names a file by its type, or is a text of which somebody has said what it means."""
    for field, info in requests()[name].model_fields.items():
        if field in NEVER or option_of(info).written:
            continue
        assert files_are_decidable(info.annotation), (
            f"{name}.{field}: decide what {info.annotation} may name (service/asked.py)"
        )
        if not holds_path(info.annotation) and "str" in str(info.annotation):
            assert field in TEXTS, f"{name}.{field}: say in this test what the text means, and that it names no file"


def test_a_field_that_is_written_to_is_told_from_one_that_is_read() -> None:
    """The fields that the command line writes files to are refused, and stand in no schema."""
    written = {(name, field) for name in OWN for field, info in own_method(name).request.model_fields.items()
               if option_of(info).written}  # fmt: skip
    assert written == {("filter", "output"), ("rubrics", "export"), ("modes", "export"), ("fingerprint", "export")}
    for name, field in written:
        assert field not in request_schema(own_method(name))["properties"]


class Place(Value):
    """Where something lies, deep within a request."""

    file: Path
    note: str = ""


class Deep(DataRequest):
    """A plug-in's request with files wherever they can stand."""

    one: Path | None = None
    many: tuple[Path, ...] = ()
    pair: tuple[str, Path] | None = None
    by_name: dict[str, Path] = Field(default_factory=dict)
    deeper: dict[str, tuple[Place, ...]] = Field(default_factory=dict)
    source: RunOrFile | None = None
    lenient: Annotated[
        tuple[Path, ...], BeforeValidator(lambda given: [given] if isinstance(given, str) else given)
    ] = ()
    made: Annotated[str, BeforeValidator(lambda given: given)] = ""


class Undecided(RunRequest):
    """A plug-in's request whose types do not say what they name."""

    either: str | Path = ""
    anything: Any = None
    objects: object = None
    plain: dict = Field(default_factory=dict)  # type: ignore[type-arg]
    two: tuple[str, ...] | tuple[Path, ...] = ()


class Sneaking(RunRequest):
    """A plug-in's request whose own check turns a text into a path."""

    kept: Annotated[Any, Field()] = None
    text: Annotated[Path | None, AfterValidator(lambda given: Path("/etc/passwd") if given else given)] = None


@pytest.fixture
def places(small: Finished, tmp_path: Path) -> Iterator[RequestFiles]:
    """A home with a run and an upload, and a data root with a file, a folder, and links that lead out of it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "below").mkdir(parents=True)
    outside.mkdir()
    (root / "q.jsonl").write_text("{}\n")
    (root / "below" / "a.jsonl").write_text("{}\n")
    (outside / "secret.jsonl").write_text("secret\n")
    (root / "link.jsonl").symlink_to(outside / "secret.jsonl")
    (root / "away").symlink_to(outside)
    (root / "leaky").mkdir()
    (root / "leaky" / "secret.png").symlink_to(outside / "secret.jsonl")
    (root / "circle").symlink_to(root / "circle")
    with Home.open(small.home, write=False) as home:
        yield RequestFiles(home, root)


def asked(places: RequestFiles, **fields: Any) -> Deep:
    """What comes of a request."""
    return read_request(Deep, {"data": "q.jsonl", **fields}, places)


def test_a_data_set_of_the_hub_is_refused_with_the_reason(places: RequestFiles) -> None:
    """A service reads nothing by name from the Hub: the network and the token would be the operator's."""
    with pytest.raises(
        InputError, match=r"the network and the token of whoever runs it: save it as Parquet, and upload"
    ):
        places.file("hf://MMMU/MMMU/Art:validation", "data")


def test_a_path_below_the_root_is_found_wherever_it_stands(places: RequestFiles) -> None:
    """Tuples, pairs, mappings, nested models, optional fields and runs: all paths come out absolute and without links."""
    root = places.root
    assert root is not None
    file = root / "below" / "a.jsonl"
    found = asked(
        places,
        one="below/a.jsonl",
        many=["q.jsonl", str(file)],
        pair=["q.jsonl", "below/a.jsonl"],
        by_name={"q.jsonl": "below/a.jsonl"},
        deeper={"x": [{"file": "below/a.jsonl", "note": "/etc/passwd"}]},
        source="last",
        lenient="below/a.jsonl",
    )
    assert found.data == root / "q.jsonl"
    assert (found.one, found.many, found.lenient) == (file, (root / "q.jsonl", file), (file,))
    assert (found.pair, found.by_name) == (("q.jsonl", file), {"q.jsonl": file})
    assert found.deeper["x"][0].file == file
    assert found.source is not None
    assert len(str(found.source)) == 16
    assert asked(places, data=".").data == root if not (root / "leaky").exists() else True


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../outside/secret.jsonl", "below/../../outside/secret.jsonl", "link.jsonl", "away/secret.jsonl", "away",
     "leaky", ".", "circle", "~/x", "\0", "", "x" * 5000, "/proc/self/environ", "/dev/stdin", "file:///etc/passwd",
     "https://example.org/x.jsonl", "\ud800", "//etc/passwd", "/root/../etc/passwd", "upload:none", "upload:../x",
     "upload:", "missing.jsonl", "below/a.jsonl/"],
)  # fmt: skip
@pytest.mark.parametrize("field", ["data", "one", "many", "pair", "by_name", "deeper", "source", "lenient"])
def test_no_path_gets_out_of_the_root(places: RequestFiles, path: str, field: str) -> None:
    """Whatever a field looks like, what does not lie below the root is refused, and nothing of it is read."""
    shapes: dict[str, Any] = {
        "many": [path],
        "pair": ["x", path],
        "by_name": {"x": path},
        "deeper": {"x": [{"file": path}]},
    }
    if path == "below/a.jsonl/":
        return
    if path == "\ud800":
        with pytest.raises((InputError, TypeError)):
            asked(places, **{field: shapes.get(field, path)})
        return
    with pytest.raises(InputError) as refusal:
        asked(places, **{field: shapes.get(field, path)})
    assert "secret" not in str(refusal.value).replace(path, "")


def test_a_refusal_does_not_tell_whether_anything_is_there(places: RequestFiles) -> None:
    """Outside of the root a file that is there, one that is not, and one that may not be read are refused alike."""
    told: set[str] = set()
    for path in ("/etc/passwd", "/etc/nothing-here", "/root/.ssh/id_rsa", "away/secret.jsonl", "away/nothing", "../x"):
        with pytest.raises(InputError) as refusal:
            asked(places, data=path)
        told.add(str(refusal.value).replace(repr(path), "PATH"))
    assert len(told) == 1


def test_without_a_root_only_uploads_are_read(places: RequestFiles) -> None:
    """A service without --data-root reads no path at all."""
    for path in ("q.jsonl", str(places.root), "below/a.jsonl"):
        with pytest.raises(InputError, match="upload it with POST /api/uploads, or start"):
            asked(RequestFiles(places.home), data=path)


def test_nothing_of_the_home_is_data(places: RequestFiles) -> None:
    """Where the home lies below the root, neither it nor a folder around it is read, but for what was uploaded."""
    root = RequestFiles(places.home, places.home.path.parent)
    for path in (places.home.path, places.home.path / "dokimasia.db", places.home.path.parent, "."):
        with pytest.raises(InputError):
            asked(root, data=str(path))


def test_a_name_before_a_file_hides_no_other_file(places: RequestFiles) -> None:
    """NAME=FILE is read for its file alone, and a file or link that is called so itself takes no other's place."""
    root = places.root
    assert root is not None
    kind = own_method("evaluate").request

    def responses(text: str) -> tuple[Path, ...]:
        return read_request(kind, {"data": "q.jsonl", "responses": [text]}, places).responses  # type: ignore[attr-defined]

    assert responses("gpt=below/a.jsonl") == (root / "below" / "gpt=a.jsonl",)
    for text in ("gpt=/etc/passwd", "gpt=link.jsonl", "gpt=../outside/secret.jsonl", "x=y=link.jsonl"):
        with pytest.raises(InputError):
            responses(text)
    (root / "gpt=q.jsonl").symlink_to(root.parent / "outside" / "secret.jsonl")
    with pytest.raises(InputError):
        responses("gpt=q.jsonl")


@pytest.mark.parametrize("field", ["either", "anything", "objects", "plain", "two"])
def test_a_field_whose_type_does_not_say_what_it_names_is_refused(places: RequestFiles, field: str) -> None:
    """Over HTTP such a field keeps its default, and stands in no schema."""
    with pytest.raises(InputError, match="its type does not say"):
        read_request(Undecided, {field: "x"}, places)
    assert field not in invocation_schema(Undecided)["properties"]
    assert read_request(Undecided, {}, places) == Undecided()


def test_a_path_that_a_request_makes_by_itself_is_refused(places: RequestFiles) -> None:
    """A check of the request's own that turns what was asked for into another path gets nothing read."""
    with pytest.raises(InputError, match="was not asked for"):
        read_request(Sneaking, {"text": "q.jsonl"}, places)


@pytest.mark.parametrize("field", ["allow_fetch", "allow_outside"])
def test_neither_fetching_nor_reading_elsewhere_can_be_asked(places: RequestFiles, field: str) -> None:
    """The two options of the command line that widen what is read are refused, and their defaults are taken as they are."""
    with pytest.raises(InputError, match=field):
        asked(places, **{field: True})
    assert asked(places, **{field: False}).allow_fetch is False


@pytest.mark.parametrize("name", ["judge", "models"])
def test_a_model_is_no_address(places: RequestFiles, name: str) -> None:
    """A model that is named by an address would lead calls, and keys with them, to whoever runs it."""
    value = "huggingface/https://example.org/x"
    with pytest.raises(InputError, match="api_base"):
        read_request(ForkRequest, {name: {"sim/a": value} if name == "models" else value}, places)
    kind = own_method("evaluate").request
    with pytest.raises(InputError, match="api_base"):
        read_request(kind, {"data": "q.jsonl", name: [value] if name == "models" else value}, places)


@pytest.mark.parametrize(
    ("field", "value"),
    [("limit", "5"), ("limit", True), ("limit", 1.5), ("max_cost", "1"), ("fresh", 1), ("fresh", "true"), ("seed", -1),
     ("prompt", 5), ("data", 5), ("data", None), ("many", {"a": 1}), ("on_bad_sample", "other"), ("tags", "a"), ("nothing", 1)],
)  # fmt: skip
def test_no_type_passes_for_another(places: RequestFiles, field: str, value: Any) -> None:
    """A wrong type, a value outside its range and an unknown field are refused, and the field is named."""
    with pytest.raises(InputError, match=field):
        asked(places, **{field: value})


def test_types_are_told_apart() -> None:
    """What a type may hold of paths is known, however it is written."""
    for kind in (
        Path | None,
        dict[Path, int],
        list[Place],
        tuple[Path, ...],
        Annotated[Path, Option()],
        Literal["a"],
        Place,
    ):
        assert files_are_decidable(kind), kind
    for kind in (Any, object, dict, list[Any], str | Path, bytes, type, Place | Deep):
        assert not files_are_decidable(kind), kind
    assert holds_path(dict[str, tuple[Place, ...]])
    assert not holds_path(dict[str, tuple[int, ...]])


@pytest.mark.parametrize("name", list(OWN))
def test_a_schema_stands_whole_and_its_example_is_one(name: str) -> None:
    """The schema of a request refers to nothing outside of it, names no field that is refused, and its example fits."""
    schema = request_schema(own_method(name))
    assert "$ref" not in str(schema)
    assert "$defs" not in schema
    assert schema["additionalProperties"] is False
    assert not set(schema["properties"]) & set(NEVER)
    for one in schema["examples"]:
        assert set(schema.get("required", ())) <= set(one) <= set(schema["properties"])
    fields = own_method(name).request.model_fields
    assert set(schema["properties"]) == {field for field, info in fields.items() if settable_over_http(field, info)}


def test_a_model_that_holds_itself_is_described_to_its_end() -> None:
    """A type that refers to itself stands once, and as anything within."""

    class Node(BaseModel):
        below: "list[Node]" = []

    assert inline_references(Node.model_json_schema())["properties"]["below"]["items"] == {}


def test_a_link_within_the_root_is_followed(places: RequestFiles) -> None:
    """A link that leads to a place below the root is what it leads to."""
    root = places.root
    assert root is not None
    os.symlink(root / "q.jsonl", root / "below" / "same.jsonl")
    assert asked(places, data="below/same.jsonl").data == root / "q.jsonl"
    assert asked(places, data="below").data == root / "below"
