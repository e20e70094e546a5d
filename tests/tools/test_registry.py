"""The registry: what a model may ask for, how its words are read, and what it is told when they cannot be."""

import orjson
import pytest
from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.errors import ConfigError, ToolFailure
from dokimasia.tools import TOOLS, available, perform, read_request, reading, select_tools
from tests.tools.conftest import Encode

pytestmark = pytest.mark.quick

BOX = [0.1, 0.2, 0.5, 0.6]


def arguments(**given: object) -> str:
    """Arguments as a model writes them."""
    return orjson.dumps(given).decode()


def test_every_tool_is_described() -> None:
    """Each tool has a description and a closed schema of its arguments."""
    assert set(TOOLS) == {"crop", "zoom", "measure_colour", "read_text", "count_shapes", "compare_regions"}
    for name, tool in TOOLS.items():
        assert tool.spec.name == name
        assert tool.spec.description.endswith(".")
        assert tool.spec.parameters["additionalProperties"] is False
        required = tool.spec.parameters["required"]
        assert isinstance(required, list)
        assert {"image", "box"} <= set(map(str, required))


def test_tools_are_named_in_a_fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the user's list does not matter, `all` leaves out what cannot work here."""
    monkeypatch.setattr("dokimasia.tools.registry.can_read", lambda: False)
    assert select_tools(["zoom", " crop "]) == ("crop", "zoom")
    assert select_tools([]) == ()
    assert select_tools(["all"]) == available() == tuple(name for name in TOOLS if name != "read_text")
    assert "read_text" in select_tools(["all", "read_text"])
    with pytest.raises(ConfigError, match="'zom'; there are: crop, zoom"):
        select_tools(["zom"])


def test_a_request_is_read() -> None:
    """Image and box are taken as they are given, the image is the first by default, a box may be an object."""
    assert read_request("crop", arguments(image=1, box=BOX), images=2).regions == (
        (1, Box(x0=0.1, y0=0.2, x1=0.5, y1=0.6)),
    )
    assert read_request("zoom", arguments(box=BOX, factor=4), images=1).factor == 4
    corners = {"x0": 0, "y0": 0, "x1": 1, "y1": 0.5}
    assert read_request("crop", arguments(image=0.0, box=corners), images=1).regions[0][1].y1 == 0.5
    both = arguments(image=0, box=BOX, other_image=1, other_box=[0, 0, 1, 1])
    assert [number for number, _ in read_request("compare_regions", both, images=2).regions] == [0, 1]


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("paint", arguments(box=BOX), "no tool 'paint'; you may use: crop, zoom"),
        ("crop", "not json", "JSON object"),
        ("crop", "[1, 2]", "JSON object"),
        ("crop", "{" + " " * 3000 + "}", "at most 2000 characters"),
        ("crop", "", "box is missing"),
        ("crop", arguments(image=2, box=BOX), "there is no image 2; there are images 0 to 1"),
        ("crop", arguments(image=-1, box=BOX), "no image -1"),
        ("crop", arguments(image="first", box=BOX), "no image first"),
        ("crop", arguments(image=True, box=BOX), "no image True"),
        ("crop", arguments(box=[0.1, 0.2, 0.5]), "four numbers"),
        ("crop", arguments(box=["a", 0, 1, 1]), "four numbers"),
        ("crop", arguments(box=None), "four numbers"),
        ("crop", '{"box": [0, 0, NaN, 1]}', "JSON object"),
        ("crop", arguments(box=[10, 20, 300, 400]), "outside of the image.*not pixels"),
        ("crop", arguments(box=[-0.1, 0, 0.5, 0.5]), "outside of the image"),
        ("crop", arguments(box=[0.5, 0.2, 0.5, 0.6]), "region is empty"),
        ("crop", arguments(box=[0.6, 0.2, 0.5, 0.6]), "region is empty"),
        ("crop", arguments(box=BOX, factor=2), "no 'factor'"),
        ("zoom", arguments(box=BOX, factor=99), "factor: a number from 1 to 16"),
        ("compare_regions", arguments(box=BOX), "other_box is missing"),
    ],
)
def test_what_cannot_be_done_is_told(name: str, given: str, told: str) -> None:
    """Every wrong request fails with words that say what would be right."""
    with pytest.raises(ToolFailure, match=told):
        read_request(name, given, images=2)


def test_only_what_is_offered_can_be_used() -> None:
    """A tool that exists and was not offered is refused like one that does not exist; so is a look at nothing."""
    with pytest.raises(ToolFailure, match=r"you may use: crop$"):
        read_request("zoom", arguments(box=BOX), images=1, offered=("crop",))
    with pytest.raises(ToolFailure, match="no image to look at"):
        read_request("zoom", arguments(box=BOX), images=0)


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "read_text"])
def test_every_tool_is_carried_out(name: str, quarters: Image.Image, encoded: Encode) -> None:
    """A request by a tool's least arguments brings words, and an image where the tool makes one."""
    other = {"other_box": [0.5, 0.5, 1, 1]} if TOOLS[name].regions == 2 else {}
    request = read_request(name, arguments(box=BOX, **other), images=1)
    result = perform(request, {0: encoded(quarters)})
    assert result.text
    assert (result.image is not None) == (name in ("crop", "zoom"))
    assert type(result).model_validate_json(result.model_dump_json()) == result


def test_tesseract_is_looked_for_once() -> None:
    """Whether text can be read is a fact of the machine."""
    assert reading.can_read() is ("read_text" in available())
