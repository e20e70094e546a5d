"""Read the package's source once: modules, their imports, and the graph that these make."""

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""Tokens that are no part of the program's text."""

STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
"""What may hold an import."""

PACKAGE = Path(__file__).parents[2] / "dokimasia"


class Import(NamedTuple):
    """An import statement's line, the absolute names that it may load, and whether only type checkers execute it."""

    line: int
    names: tuple[str, ...]
    for_types: bool = False


class Module(NamedTuple):
    """A module; `path` is relative to the package, `room` the top-level folder or module."""

    path: str
    room: str
    text: str
    imports: tuple[Import, ...]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree, parsed anew: the trees of the whole package would take a quarter of a gigabyte."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """The name that the module is imported by."""
        parts = ["dokimasia", *Path(self.path).with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> tuple[Module, ...]:
    """Return all modules of the package, sorted by path."""
    parsed: list[Module] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        relative, text = path.relative_to(PACKAGE), path.read_text()
        room = relative.parts[0] if len(relative.parts) > 1 else relative.stem
        parsed.append(Module(str(relative), room, text, tuple(_imports(ast.parse(text), for_types=False))))
    return tuple(parsed)


def _imports(node: ast.AST, *, for_types: bool) -> Iterator[Import]:
    """Yield the imports below a node, those inside functions and `TYPE_CHECKING` blocks too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(child.lineno, (alias.name,), for_types) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            for alias in child.names:
                yield Import(child.lineno, (f"{module}.{alias.name}", module), for_types)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                yield from _imports(ast.Module([statement], []), for_types=True)
            for statement in child.orelse:
                yield from _imports(ast.Module([statement], []), for_types=for_types)
        elif isinstance(child, STATEMENTS):
            yield from _imports(child, for_types=for_types)


def import_graph() -> nx.DiGraph:
    """Return the graph of the package's imports, those for type checkers too; an edge holds the line of its import."""
    names = {module.name for module in modules()}
    graph = nx.DiGraph()
    for module in modules():
        for line, candidates, _ in module.imports:
            target = next((name for name in candidates if name in names), module.name)
            if target != module.name:
                graph.add_edge(module.name, target, line=line)
    return graph


def import_circles() -> list[frozenset[str]]:
    """Return the sets of modules that import each other, largest first."""
    components = nx.strongly_connected_components(import_graph())
    return sorted(
        (frozenset(component) for component in components if len(component) > 1), key=lambda c: (-len(c), min(c))
    )


def duplicate_classes() -> dict[str, list[str]]:
    """Return the modules of each class name that is defined more than once; a graph's `State` may be."""
    places: dict[str, list[str]] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and node.name != "State":
                places.setdefault(node.name, []).append(f"{module.path}:{node.lineno}")
    return {name: lines for name, lines in sorted(places.items()) if len(lines) > 1}


def tokens(text: str) -> int:
    """Return the number of tokens of a module's text, without comments and layout."""
    return sum(token.type not in LAYOUT for token in tokenize.generate_tokens(io.StringIO(text).readline))
