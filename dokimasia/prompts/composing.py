"""Prompts that share parts: one file with the strategies it covers, composed into a whole prompt for each.

A judge under test is asked in several strategies (FOCUS, section 3), whose prompts share most of their words. Such a
file names its `task` and its `strategies` in the front matter, and its text has `{{+part}}` in place of a part of
`blindspots/axes.yaml`; a paragraph with a part that the strategy lacks is dropped. A composed prompt is a prompt like
any other, with its own name, version and hash; the hash covers the whole text, including parts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, TypeAdapter

from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Reads like `yaml.safe_load`, but in C if available, which is several times as fast."""

PARTS = ("whole", "axes", "levels", "rules", "lines")
"""The parts that a prompt can name: the subject judged as a whole, or by axis; a rubric, rules, and
the reply's lines.
"""

WHOLE = "overall"
"""The axis of what is judged on the whole."""

_FILE = Path(__file__).parent / "blindspots" / "axes.yaml"
_HEAD = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
_LISTED = re.compile(r"^strategies: \[([a-z_, ]+)\]\n", re.MULTILINE)
_TASK = re.compile(r"^task: ([a-z-]+)\n", re.MULTILINE)
_SECTION = re.compile(r"^(## [a-z]+\n)", re.MULTILINE)
_POINTS = ("9 to 10", "6 to 8", "3 to 5", "1 to 2")


class _Axis(BaseModel):
    definition: str
    levels: tuple[str, ...] = ()
    rule: str = ""


class _Material(BaseModel):
    levels: tuple[str, ...]
    rules: tuple[str, ...]
    axes: dict[str, _Axis]


def composed(path: Path, text: str) -> Mapping[str, str] | None:
    """Return the texts of the prompts composed from a file, by name; None for a file that is itself a prompt.

    Raises:
        ConfigError: the file names an unknown task or part; the message names the file.
    """
    head = _HEAD.match(text)
    if head is None:
        return None
    strategies, task = _LISTED.search(head[1]), _TASK.search(head[1])
    if strategies is None or task is None:
        return None
    if task[1] not in _axes_by_task():
        raise ConfigError(f"{path}: there is no task {task[1]!r}; there are: {', '.join(_axes_by_task())}")
    body = text[head.end() :]
    _check_parts(path, body)
    front = head[1].replace(strategies[0], "").replace(task[0], "")
    single = path.stem.startswith("single")
    prompts: dict[str, str] = {}
    for strategy in strategies[1].split(", "):
        name = f"{path.stem}_{strategy}"
        parts = dict(_parts(_axes_by_task()[task[1]], strategy, single=single))
        own_front = front.replace(f"name: {path.stem}\n", f"name: {name}\n")
        prompts[name] = f"---\n{own_front}---\n{_filled(body, parts)}"
    return prompts


def _check_parts(path: Path, body: str) -> None:
    from jinja2 import TemplateSyntaxError, meta

    try:
        unknown = meta.find_undeclared_variables(_environment().parse(body)) - set(PARTS)
    except TemplateSyntaxError as error:
        raise ConfigError(f"{path}: a part cannot be read: {error}") from None
    if unknown:
        raise ConfigError(f"{path}: there is no part {min(unknown)!r}; there are: {', '.join(PARTS)}")


def _filled(body: str, parts: Mapping[str, str]) -> str:
    """Return the text with its parts filled in, section by section, without the paragraphs that contain other parts."""
    from jinja2 import UndefinedError

    texts: list[str] = []
    for section in _SECTION.split(body):
        if _SECTION.match(section):
            texts.append(section)
            continue
        paragraphs: list[str] = []
        for paragraph in section.strip().split("\n\n"):
            try:
                paragraphs.append(_template(paragraph).render(parts))
            except UndefinedError:  # the strategy lacks a part of the paragraph
                continue
        if filled := "\n\n".join(paragraphs):
            texts.append(f"{filled}\n")
    return "".join(texts)


@cache  # every strategy of a file fills the same paragraphs
def _template(paragraph: str) -> "Template":
    return _environment().from_string(paragraph)


@cache
def _environment() -> "Environment":
    """Return the environment that fills in parts: `{{name}}` without a plus is an input and is unchanged."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(
        variable_start_string="{{+",
        block_start_string="{{%",
        comment_start_string="{{#",
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )


def _parts(material: _Material, strategy: str, *, single: bool) -> Iterable[tuple[str, str]]:
    """Yield the parts of a strategy: `whole` or `axes` (with levels or rules for each), `levels` or `rules`, and
    `lines`.
    """
    names = [WHOLE]
    if strategy.startswith("axes"):
        detail = strategy.removeprefix("axes").removeprefix("_")
        names = [name for name, axis in material.axes.items() if not single or axis.levels]
        yield "axes", "\n".join(_axis_lines(name, material.axes[name], detail) for name in names)
    else:
        yield "whole", material.axes[WHOLE].definition
        if strategy == "rubric":
            yield "levels", "\n".join(_levels(material.levels, ""))
        if strategy == "rules":
            yield "rules", "\n".join(f"- {rule}" for rule in material.rules)
    line = "{} | score: [your score]" if single else "{} | better: [your choice]"
    yield "lines", "\n".join(map(line.format, names))


def _axis_lines(name: str, axis: _Axis, detail: str) -> str:
    lines = [f"- {name}: {axis.definition}"]
    if detail == "rubric":
        lines += _levels(axis.levels, "  ")
    if detail == "rules":
        lines.append(f"  Rule: {axis.rule}")
    return "\n".join(lines)


def _levels(levels: Sequence[str], indent: str) -> list[str]:
    return [f"{indent}{points}: {level}" for points, level in zip(_POINTS, levels, strict=True)]


@cache
def _axes_by_task() -> Mapping[str, _Material]:
    return TypeAdapter(dict[str, _Material]).validate_python(yaml.load(_FILE.read_text(encoding="utf-8"), LOADER))
