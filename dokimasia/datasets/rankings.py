"""Rankings of responses by people, read from a JSONL file: by one or several annotators, with ties and gaps."""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from dokimasia.datasets.lines import Problem, place, read_rows
from dokimasia.errors import DataError

ONE_ANNOTATOR = "a1"
"""What the annotator of a line is called that names none."""

_FORMS = 'write "ranking": [["best"], ["second", "as good as second"]], or "scores": {"model": number}'


class GivenRanking(NamedTuple):
    """One ranking: the sample's id, who ranked, a score a model (higher is better, equal is a tie), and its line."""

    sample_id: str
    annotator: str
    scores: Mapping[str, float]
    line: int


def read_rankings(path: Path) -> list[GivenRanking]:
    """Return the rankings of a file in its order.

    A line is an object with `id`, `annotator` (without one all lines are of the same person), and either `ranking`, a
    list of groups of models, the best first, those of a group equally good, or `scores`, a finite number a model, higher
    is better. A model that a line does not name was not ranked there. Other fields are overlooked.

    Raises:
        NotFound: there is no such file.
        DataError: naming file and line of all lines that cannot be used, at most ten; or the file has no ranking.
    """
    found: list[GivenRanking] = []
    faults: list[str] = []
    lines: dict[tuple[str, str], int] = {}
    for row in read_rows(path):
        if isinstance(row, Problem):
            faults.append(row.message)
            continue
        where = place(path, row.line)
        try:
            one = _ranking(row.fields, row.line)
        except ValueError as problem:
            faults.append(f"{where}: {problem}")
            continue
        first = lines.setdefault((one.sample_id, one.annotator), row.line)
        if first != row.line:
            faults.append(f"{where}: {one.annotator} ranks sample {one.sample_id!r} on line {first} already")
        found.append(one)
    if not found and not faults:
        raise DataError(f"{path}: no ranking in it; {_FORMS}")
    _refuse(faults)
    return found


def check_ranked(
    path: Path, rankings: Collection[GivenRanking], answered: Mapping[str, Collection[str]], *, responses: str
) -> None:
    """Check that what was ranked is there.

    Args:
        path: the file of the rankings.
        rankings: what it holds.
        answered: by the id of each sample of the data, the models that have a response to it.
        responses: what the files of these are called.

    Raises:
        DataError: naming file and line of samples and models that are not known, at most ten.
    """
    models = {model for one in answered.values() for model in one}
    faults: list[str] = []
    for one in rankings:
        where = place(path, one.line)
        if one.sample_id not in answered:
            faults.append(f"{where}: the data have no sample {one.sample_id!r}")
            continue
        for model in one.scores:
            if model not in models:
                faults.append(f"{where}: {responses} has no response of a model {model!r}")
            elif model not in answered[one.sample_id]:
                faults.append(f"{where}: {responses} has no response of {model} to sample {one.sample_id!r}")
    _refuse(faults)


def _refuse(faults: list[str], most: int = 10) -> None:
    if faults:
        more = [f"... and {len(faults) - most} more"] if len(faults) > most else []
        raise DataError("\n".join([*faults[:most], *more]) + "\nMend these lines, or take them out")


def _ranking(fields: Mapping[str, Any], line: int) -> GivenRanking:
    id, annotator = fields.get("id"), fields.get("annotator", ONE_ANNOTATOR)
    id = str(id) if type(id) is int else id
    if not isinstance(id, str) or not id.strip():
        raise ValueError("the field 'id' is missing, empty, or no text")
    annotator = str(annotator) if type(annotator) is int else annotator
    if not isinstance(annotator, str) or not annotator.strip():
        raise ValueError("the field 'annotator' is empty or no text")
    if ("ranking" in fields) == ("scores" in fields):
        several = "both a ranking and scores" if "scores" in fields else "neither a ranking nor scores"
        raise ValueError(f"it has {several}; {_FORMS}")
    scores = dict(_ranked(fields["ranking"]) if "ranking" in fields else _scored(fields["scores"]))
    return GivenRanking(id, annotator, scores, line)


def _ranked(value: Any) -> Iterator[tuple[str, float]]:
    groups = cast("list[Any]", value) if isinstance(value, list) else []
    if not groups:
        raise ValueError(f"'ranking' is no list of groups of models; {_FORMS}")
    seen: set[str] = set()
    for at, group in enumerate(groups):
        names = cast("list[Any]", group) if isinstance(group, list) else []
        if not names:
            raise ValueError(f"group {at + 1} of 'ranking' is no list of models; {_FORMS}")
        for name in names:
            yield _named(name, seen), float(-at)


def _scored(value: Any) -> Iterator[tuple[str, float]]:
    scores = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if not scores:
        raise ValueError(f"'scores' is no object of models and numbers; {_FORMS}")
    seen: set[str] = set()
    for name, score in scores.items():
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError(f"the score {score!r} of {name!r} is no finite number")
        yield _named(name, seen), float(score)


def _named(name: Any, seen: set[str]) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"{name!r} is no name of a model")
    if name in seen:
        raise ValueError(f"the model {name!r} stands there twice")
    seen.add(name)
    return name
