"""The pages on the code name modules, functions and classes that exist."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("architecture", "internals")


def class_members(classes: set[str]) -> dict[str, set[str]]:
    """Return the names of functions, fields and attributes in each of these classes of the package."""
    members: dict[str, set[str]] = {}
    for path in (ROOT / "dokimasia").rglob("*.py"):
        source = path.read_text()
        if not classes.intersection(re.findall(r"class (\w+)", source)):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and node.name in classes:
                members.setdefault(node.name, set()).update(re.findall(r"\w+", ast.unparse(node)))
    return members


@pytest.mark.parametrize("page", PAGES)
def test_every_module_and_name_exists(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    places = re.findall(r"`([a-z_]+(?:/[a-z_]+)+)(?:\.([A-Za-z_]+))?(?:\([^`]*\))?`", text)
    assert places
    for place, name in places:
        source, outside = ROOT / "dokimasia" / place, ROOT / place
        if name == "py":
            assert any(path.with_suffix(".py").is_file() for path in (source, outside)), f"{place}.py"
            continue
        assert source.is_dir() or source.with_suffix(".py").is_file() or outside.exists(), place
        if name:
            assert hasattr(importlib.import_module(f"dokimasia.{place.replace('/', '.')}"), name), f"{place}.{name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_member_of_a_class_exists(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    mentions = re.findall(r"`([A-Z][A-Za-z]+)\.([a-z_]+)(?:\([^`]*\))?`", text)
    assert mentions
    members = class_members({class_name for class_name, _ in mentions})
    for class_name, member in mentions:
        assert member in members.get(class_name, set()), f"{class_name}.{member}"
