"""Prompts that differ by parts: one file with the strategies that it stands for, composed into a whole prompt each.

A judge under test is asked in several strategies (FOCUS, section 3) whose prompts share most of their words. Such a file
names its `task` and its `strategies` in the front matter, and its text holds `{{+part}}` where a part of
`blindspots/axes.yaml` goes; a paragraph that holds a part which the strategy has not is left out. What is composed is a
prompt like any other, with a name, a version and a hash of its own: the hash is of the whole text, parts included.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dokimasia.errors import ConfigError

LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Reads as `yaml.safe_load` does; in C where there is such a build, several times as fast."""

_FILE = Path(__file__).parent / "blindspots" / "axes.yaml"
_HEAD = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
_LISTED = re.compile(r"^strategies: \[([a-z_, ]+)\]\n", re.MULTILINE)
_TASK = re.compile(r"^task: ([a-z-]+)\n", re.MULTILINE)
_SECTION = re.compile(r"^(## [a-z]+\n)", re.MULTILINE)
_PART = re.compile(r"\{\{\+([a-z]+)\}\}")
PARTS = ("whole", "axes", "levels", "rules", "lines")
"""The parts that a prompt can name: what is judged on the whole, or by axis; a rubric, rules, and the lines of the reply."""

_POINTS = ("9 to 10", "6 to 8", "3 to 5", "1 to 2")


def composed(path: Path, text: str) -> Mapping[str, str] | None:
    """Return the texts of the prompts that a file stands for, by name; None for a file that is a prompt itself.

    Raises:
        ConfigError: the file names a task or a part that there is not; the message names the file.
    """
    head = _HEAD.match(text)
    listed = None if head is None else _LISTED.search(head[1])
    task = None if head is None else _TASK.search(head[1])
    if head is None or listed is None or task is None:
        return None
    if task[1] not in _data():
        raise ConfigError(f"{path}: there is no task {task[1]!r}; there are: {', '.join(_data())}")
    unknown = set(_PART.findall(text)) - set(PARTS)
    if unknown:
        raise ConfigError(f"{path}: there is no part {min(unknown)!r}; there are: {', '.join(PARTS)}")
    found: dict[str, str] = {}
    for strategy in listed[1].split(", "):
        name = f"{path.stem}_{strategy}"
        front = _TASK.sub("", _LISTED.sub("", head[1])).replace(f"name: {path.stem}\n", f"name: {name}\n")
        parts = _parts(task[1], strategy, single=path.stem.startswith("single"))
        found[name] = f"---\n{front}---\n{_filled(text[head.end() :], parts)}"
    return found


def _filled(body: str, parts: Mapping[str, str]) -> str:
    """Return the text with its parts, section by section, without the paragraphs that hold others."""
    return "".join(one if _SECTION.match(one) else _kept(one, parts) for one in _SECTION.split(body))


def _kept(section: str, parts: Mapping[str, str]) -> str:
    paragraphs = (one for one in section.strip().split("\n\n") if set(_PART.findall(one)) <= set(parts))
    text = "\n\n".join(paragraphs)
    return _PART.sub(lambda slot: parts[slot[1]], text) + "\n" if text else ""


def _parts(task: str, strategy: str, *, single: bool) -> Mapping[str, str]:
    """Return the parts of a strategy: `whole` or `axes` (with levels or rules for each), `levels` or `rules`, and `lines`."""
    told = _data()[task]
    by_axis, _, detail = strategy.partition("_") if strategy.startswith("axes") else ("", "", strategy)
    if by_axis:
        known = {name: axis for name, axis in told["axes"].items() if not single or "levels" in axis}
        parts = {"axes": "\n".join(_axis(name, axis, detail) for name, axis in known.items())}
    else:
        known = ("overall",)
        parts = {"whole": told["axes"]["overall"]["definition"]}
        if detail == "rubric":
            parts["levels"] = "\n".join(_levels(told["levels"], ""))
        if detail == "rules":
            parts["rules"] = "\n".join(f"- {rule}" for rule in told["rules"])
    line = "{} | score: [your score]" if single else "{} | better: [your choice]"
    return {**parts, "lines": "\n".join(map(line.format, known))}


def _axis(name: str, axis: Mapping[str, Any], detail: str) -> str:
    lines = [f"- {name}: {axis['definition']}"]
    if detail == "rubric":
        lines += _levels(axis["levels"], "  ")
    if detail == "rules":
        lines.append(f"  Rule: {axis['rule']}")
    return "\n".join(lines)


def _levels(levels: list[str], indent: str) -> list[str]:
    return [f"{indent}{points}: {level}" for points, level in zip(_POINTS, levels, strict=True)]


@cache
def _data() -> Mapping[str, Any]:
    return yaml.load(_FILE.read_text(encoding="utf-8"), LOADER)
