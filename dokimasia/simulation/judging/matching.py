"""How a simulated judge matches two reports without names to the answers of two models: by what it reads, and nothing else."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import orjson

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import RIGHT, true_score
from dokimasia.simulation.tree.lexicon import every
from dokimasia.simulation.tree.sense import sense

_ESTIMATE = r"(?P<{0}>[\d.]+) points of 100(?: \[95 % interval (?P<{0}low>[\d.]+) to (?P<{0}high>[\d.]+)\])?"
_SAID = re.compile(
    rf"\bat (?P<name>[^.;,\n]+?), where it scores {_ESTIMATE.format('value')}"
    rf"|\bmean of {_ESTIMATE.format('mean')}(?= .*over all its criteria)"
)
_NODE = re.compile(r"<[^<>]+>")
_NARROW = 1.96
"""Standard errors on either side of an estimate that its 95 % interval spans."""


class Said(NamedTuple):
    """What a report says of a part of all points: the share that is right, and the standard error of that."""

    share: float
    error: float


def match_reply(inputs: Mapping[str, str], draws: Draws) -> str:
    """Return whose report the first is: by how well what each report says fits what each model's answers get right."""
    seen = {letter: _standing(inputs["answers"], letter) for letter in "AB"}
    one, two = (_said(inputs[name]) for name in ("report_one", "report_two"))
    straight = _fit(one, seen["A"]) + _fit(two, seen["B"])
    crossed = _fit(one, seen["B"]) + _fit(two, seen["A"])
    first = "A" if straight > crossed or (straight == crossed and draws.chance(0.5, "tie")) else "B"
    return f"What the answers get wrong was held against both reports.\n\nReport 1: [[{first}]]"


def _said(report: str) -> dict[str, Said]:
    """Return what a report says of leaves and the nodes above them, by path, and under the empty path of all points."""
    found: dict[str, Said] = {}
    for match in _SAID.finditer(report):
        kind = "mean" if match["mean"] else "value"
        path = "" if match["mean"] else _paths().get(match["name"].casefold().strip())
        if path is not None:
            low, high = match[f"{kind}low"], match[f"{kind}high"]
            error = (float(high) - float(low)) / 200 / _NARROW if low and high else 0.0
            found[path] = Said(float(match[kind]) / 100, error)
    return found


def _standing(answers: str, letter: str) -> dict[str, tuple[float, int]]:
    """Return, by path and under the empty path for all, what share of a model's points is right, and of how many."""
    sums: dict[str, list[float]] = {}
    for line in answers.splitlines():
        try:
            asked = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        for point in asked["points"]:
            right = float(true_score(point["question"], point["ground_truth"], asked[letter]) >= RIGHT)
            for path in ("", *_above(sense(point["question"], point["ground_truth"]).planted or "")):
                sums.setdefault(path, []).append(right)
    return {path: (sum(each) / len(each), len(each)) for path, each in sums.items()}


def _fit(said: Mapping[str, Said], seen: Mapping[str, tuple[float, int]]) -> float:
    """Return how well what is said fits what is seen: less the squared gaps, in units of what chance explains of both."""
    total = 0.0
    for path, one in said.items():
        if path in seen:
            right, n = seen[path]
            expected = min(0.95, max(0.05, one.share))
            total -= (right - expected) ** 2 / (expected * (1 - expected) / n + one.error**2)
    return total


@cache
def _paths() -> dict[str, str]:
    """Return the paths of all capabilities and of the nodes above them, by every name that they go by."""
    found: dict[str, str] = {}
    for path, one in every().items():
        for above in _above(path):
            found.setdefault(above.rpartition("<")[2].rstrip(">").casefold(), above)
        for name in one.names:
            found[name.casefold()] = path
    return found


def _above(path: str) -> list[str]:
    """Return a path and those above it."""
    nodes = _NODE.findall(path)
    return ["".join(nodes[: at + 1]) for at in range(len(nodes))]
