"""How a simulated judge proposes capabilities, recognises one under several names, and maps criteria to them."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from dokimasia.domain.capability import CATEGORIES, DEEPEST
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.lexicon import (
    Sense,
    all_capabilities,
    last_of,
    parent_names,
    parent_of,
    sense_of_criterion,
    sense_of_name,
    unknown_path,
)
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs, read_json

TREE_PROMPTS = ("tree_propose", "tree_merge", "tree_map")

_PATH = re.compile(r"(?:<[^<>\n]{1,200}>){1,3}")
_NUMBERED = re.compile(r"\s*(\d+)\s*[.):|]\s*(.+)")
_STEM = 6
_VAGUE = frozenset(
    {"general", "skill", "ability", "capability", "quality", "other", "miscellaneou", "competence", "excellence"}
    | {category.casefold() for category in CATEGORIES}
)


class ListedItem(BaseModel):
    """A row of a list: a criterion or a capability, with what it bears of the two; `n` is its place where it has none."""

    n: int = 0
    criterion: str = ""
    text: str = ""
    ground_truth: str | None = None
    path: str = ""
    support: int = 0
    examples: tuple[str, ...] = ()


class ListedCriterion(NamedTuple):
    """A criterion as shown: its number, and what it probes."""

    n: int
    sense: Sense


def tree_reply(profile: JudgeProfile, prompt: str, inputs: Inputs, draws: Draws) -> str:
    """Return the judge's reply to one of the prompts for the tree.

    It uses only what is in the prompt. It understands criteria, names and parents of the planted world by their planted
    meaning, and others by a key word.
    """
    if prompt == "tree_propose":
        return _proposals(inputs.tree, read_listed_criteria(inputs.criteria), draws)
    if prompt == "tree_merge":
        return _groups(profile, inputs.capabilities, draws)
    return _mapping(profile, inputs.paths, read_listed_criteria(inputs.criteria), draws)


def read_listed_criteria(text: str) -> list[ListedCriterion]:
    """Return the criteria of a list: JSON objects in an array or one per line, or numbered lines."""
    criteria: list[ListedCriterion] = []
    for row in _read_rows(text):
        sense = sense_of_criterion(row.criterion or row.text, row.ground_truth or "")
        criteria.append(ListedCriterion(row.n, sense))
    return criteria


def fits(meant: Sense, name: str) -> bool:
    """Return whether a leaf with this name fits what a criterion probes."""
    leaf = sense_of_name(name)
    if meant.planted is not None:
        return leaf.planted == meant.planted
    return leaf.planted is None and None not in (meant.word, leaf.word) and _stem(meant.word) == _stem(leaf.word)


def _proposals(tree: str, criteria: Iterable[ListedCriterion], draws: Draws) -> str:
    """Return a fitting leaf for each criterion, or else a proposed name of its capability below a fitting parent."""
    paths = sorted(set(_PATH.findall(tree)))
    leaves = [path for path in paths if path.count("<") == DEEPEST]
    parents = {parent_of(path) if path.count("<") == DEEPEST else path for path in paths if path.count("<") > 1}
    new_parents: dict[str, None] = {}
    lines: list[str] = []
    for criterion in criteria:
        if criterion.sense == Sense(None):
            lines.append(f"{criterion.n} | none")
            continue
        fitting = [path for path in leaves if fits(criterion.sense, last_of(path))]
        if fitting:
            lines.append(f"{criterion.n} | {_best(criterion.sense, fitting)}")
            continue
        wanted = criterion.sense.planted or unknown_path(criterion.sense.word)
        parent = _parent(wanted, parents, draws)
        if parent not in parents:
            new_parents[f"<ADD,{parent_of(parent)},{last_of(parent)}>"] = None
            parents.add(parent)
        capability = all_capabilities().get(wanted)
        name = draws.pick(capability.names, "name", wanted) if capability else last_of(wanted)
        lines.append(f"{criterion.n} | <ADD,{parent},{name}>")
    reused = sum("ADD" not in line and not line.endswith("none") for line in lines)
    analysis = f"The tree covers {reused} of {len(lines)} criteria; the others call for capabilities that it lacks."
    return "\n".join(["<analysis>", analysis, "</analysis>", *new_parents, *lines])


def _parent(wanted: str, parents: set[str], draws: Draws) -> str:
    """Return a parent of the tree that fits the wanted path, else one of the possible names of a new parent."""
    above = parent_of(wanted)
    names = parent_names().get(above, (last_of(above),))
    possible = [f"{parent_of(above)}<{name}>" for name in names]
    return next((path for path in possible if path in parents), draws.pick(possible, "parent", above))


def _groups(profile: JudgeProfile, capabilities: str, draws: Draws) -> str:
    """Return groups of names of one capability, the best supported first, and better names for vague ones."""
    groups: dict[str, list[tuple[int, int]]] = {}
    vague: list[str] = []
    for row in _read_rows(capabilities):
        n, path = row.n, row.path
        sense = Sense(_planted_parent(path)) if path.count("<") < DEEPEST else Sense(None)
        sense = sense_of_name(last_of(path)) if sense.planted is None else sense
        if sense.planted is None and (sense.word is None or sense.word in _VAGUE):
            vague.append(f"vague: {n}{_better_name(row.examples, draws)}")
        elif not draws.chance(profile.misses_synonym, "synonym", n):
            key = sense.planted or f"{parent_of(path)} {_stem(sense.word)}"
            groups.setdefault(key, []).append((-row.support, n))
    lines = [
        f"same: {', '.join(str(n) for _, n in sorted(group))}" for _, group in sorted(groups.items()) if len(group) > 1
    ]
    return "\n".join([*lines, *vague]) or "none"


def _better_name(examples: Iterable[str], draws: Draws) -> str:
    """Return a bar and a name for what all examples of a vague capability probe, or nothing if they differ."""
    senses = {sense_of_criterion(example) for example in examples}
    sense = next(iter(senses)) if len(senses) == 1 else Sense(None)
    if sense == Sense(None):
        return ""
    capability = all_capabilities().get(sense.planted or "")
    return f" | {draws.pick(capability.names, 'name', sense.planted or '') if capability else last_of(unknown_path(sense.word))}"


def _planted_parent(path: str) -> str | None:
    """Return the planted parent for a path of a category and a parent, by any of its names."""
    names = parent_names()
    return next(
        (
            above
            for above, own_names in names.items()
            if last_of(path) in own_names and parent_of(above) == parent_of(path)
        ),
        None,
    )


def _mapping(profile: JudgeProfile, paths: str, criteria: Iterable[ListedCriterion], draws: Draws) -> str:
    """Return the fitting path of each criterion, or none; at the planted rate, another capability of
    the list instead.
    """
    paths_listed = sorted(set(_PATH.findall(paths)))
    senses = {path: sense_of_name(last_of(path)) for path in paths_listed if path.count("<") == DEEPEST}
    by_meaning: dict[Sense, str] = {}
    for path in sorted(senses, key=lambda path: (path not in all_capabilities(), path)):
        by_meaning.setdefault(_key(senses[path]), path)
    lines: list[str] = []
    for criterion in criteria:
        path = by_meaning.get(_key(criterion.sense)) if criterion.sense != Sense(None) else None
        if path is None:
            path = _branch(criterion.sense, [path for path in paths_listed if path not in senses])
        others = [other for other in senses if other != path]
        if others and draws.chance(profile.misplaces, "misplaced", criterion.n):
            path = draws.pick(others, "misplaced-to", criterion.n)
        lines.append(f"{criterion.n} | {path or 'none'}")
    return "\n".join(lines)


def _branch(sense: Sense, branches: Iterable[str]) -> str | None:
    """Return the deepest listed branch that covers a planted or unknown capability."""
    if sense == Sense(None):
        return None
    above = parent_of(sense.planted or unknown_path(sense.word))
    possible = {f"{parent_of(above)}<{name}>" for name in parent_names().get(above, (last_of(above),))}
    possible.add(parent_of(above))
    return max((path for path in branches if path in possible), key=lambda path: (path.count("<"), path), default=None)


def _best(sense: Sense, fitting: Iterable[str]) -> str:
    return min(fitting, key=lambda path: (path != sense.planted, path))


def _key(sense: Sense) -> Sense:
    if sense.planted is not None:
        return sense
    return Sense(None, _stem(sense.word))


def _stem(word: str | None) -> str:
    return (word or "")[:_STEM].casefold()


def _read_rows(text: str) -> list[ListedItem]:
    """Return the rows of a list: a JSON array, one object per line, or numbered lines of plain text."""
    rows = read_json(text)
    if not isinstance(rows, list):
        rows = map(_read_line, text.splitlines())
    items = [ListedItem.model_validate(row) for row in rows if isinstance(row, dict)]
    for place, item in enumerate(items, 1):
        item.n = item.n or place
    return items


def _read_line(line: str) -> JsonValue:
    numbered = _NUMBERED.fullmatch(line)
    if numbered:
        return {"n": numbered[1], "text": numbered[2]}
    return read_json(line.strip().rstrip(","))
