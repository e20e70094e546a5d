"""The hooks that write pages: pictures of graphs, and the command reference."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.quick

HOOKS = Path(__file__).parent.parent.parent / "docs" / "hooks"


@pytest.fixture
def hook() -> Iterator[dict[str, ModuleType]]:
    """The hooks by name, imported as MkDocs imports them: with their own folder on the path."""
    names = ("drawing", "commands", "figures", "pages", "interfaces")
    sys.path.insert(0, str(HOOKS))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(HOOKS))
        for name in names:
            sys.modules.pop(name, None)


EDGES = {("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("b", "b"), ("c", "d"), ("a", "d")}


def test_the_same_graph_gives_the_same_picture(hook: dict[str, ModuleType]) -> None:
    """The order in which edges come does not matter."""
    draw = hook["drawing"].draw
    first = draw(["a", "b", "c", "d"], sorted(EDGES), title="t")
    assert first == draw(["a", "b", "c", "d"], sorted(EDGES, reverse=True), title="t")


def test_every_edge_ends_in_an_arrow(hook: dict[str, ModuleType]) -> None:
    """Steps that follow each other get an arrow each; all other ways into a step, forward or back, share one."""
    picture = hook["drawing"].draw(["a", "b", "c", "d"], EDGES, title="<t>")
    assert picture.count("<polygon") == 3 + 2 + 2  # a→b→c→d; into c and d; back into a and b
    assert picture.count('class="back"') == 2
    assert "<title>&lt;t&gt;</title>" in picture


def test_lines_that_run_side_by_side_have_lanes_of_their_own(hook: dict[str, ModuleType]) -> None:
    """Where two ways overlap, the longer runs farther out."""
    lanes = hook["drawing"]._lanes([(0, 2), (0, 3), (4, 6)])
    assert {(lane.target, lane.number) for lane in lanes} == {(2, 0), (3, 1), (6, 0)}


def test_an_edge_into_nowhere_is_refused(hook: dict[str, ModuleType]) -> None:
    """An edge that names no step is an error that names it."""
    with pytest.raises(ValueError, match="no such step: z"):
        hook["drawing"].draw(["a"], [("a", "z")], title="t")


def test_the_reference_tells_values_and_defaults(hook: dict[str, ModuleType]) -> None:
    """A flag stands alone, a number with its lower bound, a choice with its choices, and a default in its column."""
    text = hook["commands"].reference()
    assert "| `--repeats N ≥ 1` |" in text
    assert "| `--on-bad-sample fail/skip` |" in text
    assert re.search(r"\| `--blind-arm` \| [^|]+ \|  \|", text)
    assert re.search(r"\| `--judge TEXT` \| [^|]+ \| \*\*required\*\* \|", text)
    assert re.search(r"\| `--repeats N ≥ 1` \| [^|]+ \| `1` \|", text)


def test_a_page_without_marks_is_left_as_it_is(hook: dict[str, ModuleType]) -> None:
    """Only marks are replaced; a mark for modules names its package."""
    pages = hook["pages"]
    assert pages.on_page_markdown("no mark\n<!-- a comment -->\n") == "no mark\n<!-- a comment -->\n"
    assert "::: dokimasia.parsing.verdicts" in pages.on_page_markdown("<!-- modules dokimasia.parsing -->")
    with pytest.raises(ValueError, match="needs the name of a package"):
        pages.on_page_markdown("<!-- modules -->")


def test_types_of_figures_are_told_in_words(hook: dict[str, ModuleType]) -> None:
    """A number with its range, a choice, a list, a mapping with its keys, and a link to a part; each may be null."""
    typed = hook["figures"].typed
    assert typed({"type": "integer", "minimum": 0}) == "integer ≥ 0"
    assert (
        typed({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]}) == "number 0 to 1 or null"
    )
    assert typed({"type": "array", "items": {"$ref": "#/$defs/Row"}}) == "list of [Row](#Row)"
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert typed(counts) == "by name: integer"
    assert typed({**counts, "propertyNames": {"enum": ["", "refused"]}}) == "by name (empty, `refused`): integer"


def test_two_parts_of_one_name_are_refused(hook: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to a part leads to one table, so two methods may share a part, and not its name alone."""
    figures = hook["figures"]
    monkeypatch.setattr(figures, "figures_schema", lambda method: {"$defs": {"Part": {"title": method.name}}})
    with pytest.raises(ValueError, match="two methods have a part Part"):
        figures.reference()


def test_the_tables_of_the_graphs_are_those_of_the_program(hook: dict[str, ModuleType]) -> None:
    """The Markdown file itself says what each graph takes and gives."""
    interfaces = hook["interfaces"]
    page = interfaces.PAGE.read_text()
    assert page == interfaces.renewed(page), "renew it: python docs/hooks/interfaces.py"
    assert "| `items[].model` | `str` |" in page
    assert interfaces.typed(list[int | None]) == "list[int or None]"
