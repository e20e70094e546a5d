"""Rules of the source code: who may import whom, ratios that may only fall, who reads the environment.

Each rule names all who break it, with file and line.
"""

import ast
from pathlib import Path

import pytest

from benchmarks.counters.__main__ import counts_by_room
from benchmarks.counters.frames import frames_to_socket
from benchmarks.counters.methods import files_that_name_methods
from benchmarks.counters.source import duplicate_classes, import_circles, modules

pytestmark = pytest.mark.quick

PACKAGE = Path(__file__).parent.parent / "dokimasia"
EVERYWHERE = {"errors", "log", "version"}
ALL = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if not path.name.startswith("_")}

BELOW = ALL - {"runs", "people", "methods", "operations", "cli", "service", "client"}
"""Every room below the life-cycle; it knows methods through their registry alone."""

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "log": set(),
    "settings": {"domain", "chat_models"},
    "domain": set(),
    "plugins": set(),
    "chat_models": {"domain", "plugins"},
    "algorithms": {"domain"},
    "parsing": {"domain"},
    "prompts": {"domain"},
    "datasets": {"domain"},
    "integrations": {"domain", "parsing", "datasets"},
    "tools": {"domain", "algorithms"},
    "gateway": {"domain", "parsing"},
    "storage": {"domain", "parsing"},
    "simulation": {"domain", "prompts"},
    "agents": {"domain", "prompts", "parsing", "tools"},
    "graphs": {"domain", "algorithms", "agents"},
    "report": {"domain"},
    "endpoints": BELOW - {"report", "endpoints"} | {"runs"},
    "distribution": {"domain", "prompts", "settings", "gateway", "storage", "graphs"},
    "runs": BELOW,
    "people": BELOW | {"runs"},
    "methods": BELOW | {"runs", "people"},
    "operations": BELOW | {"runs", "people", "methods"},
    "client": BELOW - {"report"} | {"runs", "operations"},
    "service": ALL - {"cli", "client"},
    "cli": ALL,
    "__init__": ALL,
    "__main__": ALL,
}

THIRD_PARTY_ROOMS: dict[str, tuple[str, ...]] = {
    "langgraph": ("graphs", "storage/checkpoints.py"),
    "litellm": ("gateway/litellm",),
    "sqlite_utils": ("storage",),
    "networkx": ("algorithms", "graphs"),
    "fastapi": ("service",),
    "uvicorn": ("service",),
    "jinja2": ("prompts", "service"),
    "prometheus_client": ("service",),
    "markdown_it": ("report",),
    "latex2mathml": ("report",),
    "matplotlib": ("report",),
    "ray": ("distribution",),
}

MODULES_IN_CIRCLES = 0
"""Modules that import each other, imports for type checkers counted; there shall be none."""

DUPLICATE_CLASSES = 0
CONDITIONAL_EXPRESSIONS = 16.8
"""Per 1,000 lines; this and the next may only fall."""
COMPREHENSIONS = 38.5
ANY_NAMES = 252
STRING_SUBSCRIPTS = 410
"""Values read by a constant text, without LangGraph state; those of JSON from outside are among them."""
FRAMES = 25
FILES_THAT_NAME_A_METHOD = 113
"""Summed over the methods; a method that is made from the template is named by its catalogue line alone."""

NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "common", "misc"}


def _assert_none(offenders: list[str]) -> None:
    assert not offenders, "\n" + "\n".join(offenders)


def test_imports_are_absolute_and_keep_to_the_table() -> None:
    """A module imports by absolute names, and only from the rooms that its own room may import from."""
    offenders: list[str] = []
    for module in modules():
        allowed = MAY_IMPORT[module.room] | EVERYWHERE | {module.room}
        for line, (name, *_), _ in module.imports:
            parts = name.split(".")
            if name.startswith("."):
                offenders.append(f"{module.path}:{line}: a relative import hides the room")
            elif parts[0] == "dokimasia" and len(parts) > 1 and parts[1] in ALL and parts[1] not in allowed:
                offenders.append(f"{module.path}:{line}: {module.room} may not import {name}")
    _assert_none(offenders)


def test_a_method_takes_from_a_package_what_it_offers() -> None:
    """A method imports the package of another method, or of what people say, and no module of it."""
    offenders: list[str] = []
    for module in modules():
        for line, (name, *_), _ in module.imports:
            parts = name.split(".")
            if module.room != "methods" or parts[:2] not in (["dokimasia", "methods"], ["dokimasia", "people"]):
                continue
            package = Path(*parts[1:3])
            inside = PACKAGE.joinpath(*parts[1:4])
            if (
                len(parts) > 3
                and not module.path.startswith(f"{package}/")
                and (inside.is_dir() or inside.with_suffix(".py").exists())
            ):
                offenders.append(f"{module.path}:{line} imports {name}")
    _assert_none(offenders)


def test_heavy_libraries_stay_in_their_rooms() -> None:
    """langgraph, litellm, sqlite_utils and networkx are imported only where the house says."""
    offenders: list[str] = []
    for module in modules():
        for line, (name, *_), _ in module.imports:
            rooms = THIRD_PARTY_ROOMS.get(name.split(".")[0])
            if rooms is not None and not any(
                module.path == room or module.path.startswith(f"{room}/") for room in rooms
            ):
                offenders.append(f"{module.path}:{line}: {name} stays in {' and '.join(rooms)}")
    _assert_none(offenders)


def test_no_circle_of_imports() -> None:
    """No module imports itself by way of others, lazy_function, for type checkers or otherwise."""
    assert sum(map(len, import_circles())) <= MODULES_IN_CIRCLES, import_circles()


def test_a_class_name_exists_once() -> None:
    """No two modules define a class of the same name, so that a name can be searched for."""
    assert len(duplicate_classes()) <= DUPLICATE_CLASSES, duplicate_classes()


def test_expressions_stay_simple() -> None:
    """The package holds fewer conditional expressions and comprehensions per 1,000 lines, and fewer `Any`, than agreed."""
    counts = counts_by_room()["all"]
    assert counts.per_thousand_lines(counts.conditional_expressions) <= CONDITIONAL_EXPRESSIONS
    assert counts.per_thousand_lines(counts.comprehensions) <= COMPREHENSIONS
    assert counts.any_names <= ANY_NAMES
    assert counts.string_subscripts <= STRING_SUBSCRIPTS


def test_a_call_passes_few_frames(tmp_path: Path) -> None:
    """Between `dokimasia evaluate` and the socket lie few functions of the package."""
    assert len(frames_to_socket(tmp_path)) <= FRAMES


def test_few_files_outside_its_places_name_a_method() -> None:
    """Beside its folder, its graph, its agent and its prompts, few files know of a method."""
    files = files_that_name_methods()
    assert sum(map(len, files.values())) <= FILES_THAT_NAME_A_METHOD, files


def test_modules_open_with_a_sentence() -> None:
    """Every module says in its first line what it is, and has a name that says which."""
    offenders: list[str] = []
    for module in modules():
        if not ast.get_docstring(module.tree):
            offenders.append(f"{module.path}:1: no docstring")
        if Path(module.path).stem in NAMES_THAT_SAY_NOTHING:
            offenders.append(f"{module.path}:1: a name that says nothing")
    _assert_none(offenders)


def test_only_settings_reads_the_environment() -> None:
    """The environment is read in one place."""
    offenders: list[str] = []
    for module in modules():
        if module.room == "settings":
            continue
        for node in ast.walk(module.tree):
            asked = (
                isinstance(node, ast.Attribute)
                and node.attr in {"get", "getenv"}
                and ast.unparse(node) in {"os.environ.get", "os.getenv"}
            )
            looked = (
                isinstance(node, ast.Subscript)
                and not isinstance(node.ctx, ast.Store)
                and ast.unparse(node.value) == "os.environ"
            )
            if asked or looked:
                offenders.append(f"{module.path}:{node.lineno}: reads the environment")
    _assert_none(offenders)
