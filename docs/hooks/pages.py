"""Fill the pages' marks with what is made from the program: commands, figures, graphs with their pictures, modules.

A mark is a comment on a line of its own: `<!-- commands -->`, `<!-- figures -->`, `<!-- graphs -->`, `<!-- sections -->`
or `<!-- modules PACKAGE -->`.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import commands
import figures
from drawing import draw, label

from dokimasia.graphs.drive import compiled
from dokimasia.graphs.runnable import own_graph
from dokimasia.graphs.signatures import SIGNATURES
from dokimasia.runs.catalogue import OWN, own_method

MARK = re.compile(r"^<!-- (commands|figures|graphs|sections|modules)(?: ([\w.]+))? -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the marks of a page; MkDocs calls this for each."""
    return MARK.sub(lambda found: fill(found[1], found[2]), markdown)


def fill(kind: str, name: str | None) -> str:
    """Return what stands in the place of a mark."""
    if kind == "commands":
        return commands.reference()
    if kind == "figures":
        return figures.reference()
    if kind == "graphs":
        return "\n".join(line for name in SIGNATURES for line in _graph(own_graph(name)))
    if kind == "sections":
        return "\n".join(_sections())
    if name is None:
        raise ValueError("<!-- modules --> needs the name of a package")
    return "\n".join(f"::: {module}\n" for module in modules(name))


def modules(package: str) -> list[str]:
    """Return the names of a package's public modules, sorted."""
    folders = importlib.import_module(package).__path__
    return [f"{package}.{one.name}" for one in pkgutil.iter_modules(folders) if not one.name.startswith("_")]


def _graph(graph: Any) -> Iterator[str]:
    """Write one graph: what it is, its picture, its steps, and what decides the way at each."""
    drawn = compiled(graph).get_graph()
    built = graph.build()
    name = label(graph.NAME)
    yield from (f"## {name[0].upper()}{name[1:]}", "")
    yield from _prose(graph)
    yield from (f"[Input and output](reference/graphs.md#{graph.NAME})", "")
    title = f"The graph {graph.NAME}, version {graph.VERSION}"
    picture = draw(list(drawn.nodes), {(edge.source, edge.target) for edge in drawn.edges}, title=title)
    yield from (
        f"<figure>{picture}<figcaption>{title}</figcaption></figure>",
        "",
        "| step | what it does |",
        "|---|---|",
    )
    for step, node in built.nodes.items():
        yield f"| `{step}` | {_told(node.runnable)} |"
    if not built.branches:
        yield ""
        return
    yield from ("", "| after | the way is decided so | it leads to |", "|---|---|---|")
    for step, branches in built.branches.items():
        for branch in branches.values():
            ways = ", ".join(f"`{label(way) if way.startswith('__') else way}`" for way in branch.ends or {})
            yield f"| `{label(step) if step.startswith('__') else step}` | {_told(branch.path)} | {ways} |"
    yield ""


def _sections() -> Iterator[str]:
    """List the sections of an evaluation's report in their order, each with the first sentence of its file."""
    drawing = own_method("evaluate").report.drawing()
    added = [(name, adds.section()) for name in OWN if (adds := own_method(name).report.adds) is not None]
    sections: list[tuple[str, Any]] = []
    for section in drawing.sections:
        sections.append((section.__module__.rpartition(".")[2], section))
        sections += added if section is drawing.added_after else []
    for number, (name, section) in enumerate(sections, start=1):
        told = (inspect.getdoc(importlib.import_module(section.__module__)) or "").split("\n\n")[0]
        yield f"{number}. **{label(name)}**: {' '.join(told.split())}"


def _prose(module: ModuleType) -> Iterator[str]:
    """Yield the paragraphs of a module's docstring, without the drawing in it."""
    for paragraph in (inspect.getdoc(module) or "").split("\n\n"):
        if paragraph.strip() != "::" and not paragraph.startswith(" "):
            yield from (paragraph, "")


def _told(runnable: Any) -> str:
    """Return the first paragraph of the docstring of what a runnable calls."""
    function = getattr(runnable, "afunc", None) or getattr(runnable, "func", None)
    if isinstance(function, partial):
        function = function.func
    told = (inspect.getdoc(function) or "").split("\n\n")[0] if function is not None else ""
    return " ".join(told.split()).replace("|", "\\|")
