"""The house's rules that a machine can hold: who may import whom, how large things may be, who reads the environment.

The tree is read once, and each rule names all who break it, with file and line.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx

PACKAGE = Path(__file__).parent.parent / "dokimasia"
EVERYWHERE = {"errors", "log"}
ALL = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if not path.name.startswith("_")}

BELOW = ALL - {"runs", "methods", "cli", "service", "client"}
"""Every room below the life-cycle; it knows methods through their registry alone."""

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "log": set(),
    "settings": {"domain"},
    "domain": set(),
    "plugins": set(),
    "algorithms": {"domain"},
    "parsing": {"domain"},
    "prompts": {"domain"},
    "datasets": {"domain"},
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
    "methods": BELOW | {"runs"},
    "client": BELOW - {"report"} | {"runs"},
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
    "jinja2": ("service",),
    "prometheus_client": ("service",),
    "ray": ("distribution",),
}

CIRCLES: set[frozenset[str]] = set()
"""Circles of imports that are left; there shall be none."""

NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "common", "misc"}


class Import(NamedTuple):
    """One import: where it stands, and the absolute names that it may load."""

    line: int
    names: tuple[str, ...]


class Module(NamedTuple):
    """A module of the package as it was read."""

    place: str
    """Its path in the package."""
    room: str
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def name(self) -> str:
        """The name that it is imported by."""
        parts = ["dokimasia", *Path(self.place).with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> tuple[Module, ...]:
    """The whole package, read and parsed once."""
    found: list[Module] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        relative, text = path.relative_to(PACKAGE), path.read_text()
        tree = ast.parse(text)
        room = relative.parts[0] if len(relative.parts) > 1 else relative.stem
        found.append(Module(str(relative), room, text, tree, tuple(_imports(tree))))
    return tuple(found)


def _imports(tree: ast.Module) -> Iterator[Import]:
    """What a module imports, lazily or not; `TYPE_CHECKING` blocks do not count."""

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and any(name == "TYPE_CHECKING" for name in _words(child.test)):
                for other in child.orelse:
                    yield from walk(other)
                continue
            yield child
            yield from walk(child)

    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, (alias.name,)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (Import(node.lineno, (f"{module}.{alias.name}", module)) for alias in node.names)


def _words(node: ast.expr) -> Iterator[str]:
    """The names in an expression, those behind a dot too."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _told(offenders: list[str]) -> None:
    assert not offenders, "\n" + "\n".join(offenders)


def test_imports_are_absolute_and_keep_to_the_table() -> None:
    """A module imports by absolute names, and only from the rooms that its own room may import from."""
    offenders: list[str] = []
    for module in modules():
        allowed = MAY_IMPORT[module.room] | EVERYWHERE | {module.room}
        for line, (name, *_) in module.imports:
            parts = name.split(".")
            if name.startswith("."):
                offenders.append(f"{module.place}:{line}: a relative import hides the room")
            elif parts[0] == "dokimasia" and len(parts) > 1 and parts[1] in ALL and parts[1] not in allowed:
                offenders.append(f"{module.place}:{line}: {module.room} may not import {name}")
    _told(offenders)


def test_a_method_takes_from_another_what_its_package_offers() -> None:
    """A method imports another method's package and no module of it."""
    offenders = [
        f"{module.place}:{one.line} imports {one.names[0]}"
        for module in modules()
        if module.room == "methods"
        for one in module.imports
        if one.names[0].startswith("dokimasia.methods.")
        and (parts := one.names[0].split("."))[2] != module.place.split("/")[1]
        and len(parts) > 3
        and (
            (PACKAGE / "methods" / parts[2] / f"{parts[3]}.py").exists()
            or (PACKAGE / "methods" / parts[2] / parts[3]).is_dir()
        )
    ]
    assert not offenders, "\n".join(offenders)


def test_heavy_libraries_stay_in_their_rooms() -> None:
    """langgraph, litellm, sqlite_utils and networkx are imported only where the house says."""
    offenders: list[str] = []
    for module in modules():
        for line, (name, *_) in module.imports:
            rooms = THIRD_PARTY_ROOMS.get(name.split(".")[0])
            if rooms is not None and not any(
                module.place == room or module.place.startswith(f"{room}/") for room in rooms
            ):
                offenders.append(f"{module.place}:{line}: {name} stays in {' and '.join(rooms)}")
    _told(offenders)


def test_no_circle_of_imports() -> None:
    """No module imports itself by way of others, lazily or not."""
    named = {module.name: module for module in modules()}
    graph = nx.DiGraph()
    for module in modules():
        for line, names in module.imports:
            loaded = next((name for name in names if name in named), module.name)
            if loaded != module.name:
                graph.add_edge(module.name, loaded, line=line)
    offenders: list[str] = []
    for circle in nx.strongly_connected_components(graph):
        if len(circle) > 1 and frozenset(circle) not in CIRCLES:
            edges = graph.subgraph(circle).edges(data="line")
            offenders += [f"{named[one].place}:{line}: {one} imports {other}" for one, other, line in sorted(edges)]
    _told(offenders)


def test_modules_open_with_a_sentence_and_are_one_thing() -> None:
    """Every module says in its first line what it is, and has a name that says which."""
    offenders: list[str] = []
    for module in modules():
        if not ast.get_docstring(module.tree):
            offenders.append(f"{module.place}:1: no docstring")
        if Path(module.place).stem in NAMES_THAT_SAY_NOTHING:
            offenders.append(f"{module.place}:1: a name that says nothing")
    _told(offenders)


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
                offenders.append(f"{module.place}:{node.lineno}: reads the environment")
    _told(offenders)
