"""Find the files outside a method's own places that name it: its line of the catalogue is one, and there should be no other.

The front door, which gives each method a public name, is one of its places.

A file names a method where it imports from the method's places, has the name of a module there as a string, or compares
a method's name, or asks for a method by it.
"""

import ast
from collections.abc import Iterator
from functools import cache

from benchmarks.counters.source import modules

ROOMS = ("methods", "graphs", "agents", "algorithms")
CATALOGUE = "runs/catalogue.py"
FRONT_DOOR = "__init__.py"


def files_that_name_methods() -> dict[str, list[str]]:
    """Return by method the files outside its places that name it, the catalogue first."""
    return {method: [CATALOGUE, *_files_outside(method, folder)] for method, folder in _catalogue()}


def _catalogue() -> Iterator[tuple[str, str]]:
    """Yield each method's name and folder, as the lines of the catalogue say."""
    (module,) = [module for module in modules() if module.path == CATALOGUE]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                    yield str(key.value), ast.literal_eval(value.args[0])


def _files_outside(method: str, folder: str) -> list[str]:
    places = tuple(f"{room}/{folder}{ending}" for room in ROOMS for ending in ("/", ".py"))
    packages = tuple(f"dokimasia.{room}.{folder}." for room in ROOMS)
    named: list[str] = []
    for path, (loaded, methods) in _names().items():
        inside = path.startswith(places) or path in (CATALOGUE, FRONT_DOOR)
        if not inside and (method in methods or any(f"{name}.".startswith(packages) for name in loaded)):
            named.append(path)
    return named


@cache
def _names() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return by module the names of modules that it loads, and strings that it takes for a method's name."""
    names: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for module in modules():
        loaded = {name for line in module.imports for name in line.names}
        methods: set[str] = set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and str(node.value).startswith("dokimasia."):
                loaded.add(str(node.value))
            elif isinstance(node, ast.Compare) and _is_about_methods(node):
                methods.update(_strings(node))
            elif isinstance(node, ast.Call) and _is_about_methods(node.func):
                methods.update(string for argument in node.args for string in _strings(argument))
        names[module.path] = (frozenset(loaded), frozenset(methods))
    return names


def _is_about_methods(node: ast.expr) -> bool:
    """Return whether a variable, an attribute or a function in an expression is called a method."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and "method" in child.id:
            return True
        if isinstance(child, ast.Attribute) and "method" in child.attr:
            return True
    return False


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield the strings in an expression."""
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
