"""The house's rules that a machine can hold: who may import whom, and which names are public."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "dokimasia"
EVERYWHERE = {"errors", "log"}
ALL = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if not path.name.startswith("_")}

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
    "report": {"domain", "methods"},
    "runs": ALL,
    "methods": ALL,
    "endpoints": ALL,
    "cli": ALL,
    "service": ALL,
    "__init__": ALL,
    "__main__": ALL,
}

THIRD_PARTY_ROOMS: dict[str, tuple[str, ...]] = {
    "langgraph": ("graphs", "storage/checkpoints.py"),
    "litellm": ("gateway/litellm",),
    "sqlite_utils": ("storage",),
    "networkx": ("algorithms", "graphs"),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> Iterator[str]:
    """Absolute names that a module imports, lazily or not; `TYPE_CHECKING` blocks do not count."""

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for other in child.orelse:
                    yield from walk(other)
                continue
            yield child
            yield from walk(child)

    for node in walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            assert node.module is not None
            yield node.module
            if node.module == "dokimasia":
                yield from (f"dokimasia.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_keep_to_the_table(path: Path) -> None:
    """A module imports only from the rooms that its own room may import from."""
    room = room_of(path)
    allowed = MAY_IMPORT[room] | EVERYWHERE | {room}
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "dokimasia" and len(parts) > 1 and parts[1] in ALL:
            assert parts[1] in allowed, f"{room} may not import {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_libraries_stay_in_their_rooms(path: Path) -> None:
    """langgraph, litellm, sqlite_utils and networkx are imported only where the house says."""
    relative = str(path.relative_to(PACKAGE))
    for name in imported(path):
        rooms = THIRD_PARTY_ROOMS.get(name.split(".")[0])
        if rooms is not None:
            assert any(relative == room or relative.startswith(room + "/") for room in rooms), f"{relative}: {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_open_with_a_sentence(path: Path) -> None:
    """Every module says in its first line what it is, and is small enough to be one thing."""
    text = path.read_text()
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring, f"{path} has no docstring"
    assert len(text.splitlines()) <= 400, f"{path} has more than 400 lines"
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_settings_reads_the_environment(path: Path) -> None:
    """The environment is read in one place."""
    if room_of(path) == "settings":
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ.get", "os.getenv"}:
            raise AssertionError(f"{path}:{node.lineno} reads the environment")
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            assert isinstance(node.ctx, ast.Store), f"{path}:{node.lineno} reads the environment"
