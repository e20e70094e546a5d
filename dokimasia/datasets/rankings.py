"""Rankings of responses by people, read from a JSONL file: by one or several annotators, with ties and gaps."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from dokimasia.datasets.lines import Problem, place, read_rows
from dokimasia.errors import DataError

UNNAMED = ""
"""What the annotator of a line is called that names none; nobody can be called so."""

_FORMS = 'write "ranking": [["best"], ["second", "as good as second"]], or "scores": {"model": number}'


class GivenRanking(NamedTuple):
    """One ranking: the sample's id, who ranked, a score a model (higher is better, equal is a tie), and its line."""

    sample_id: str
    annotator: str
    scores: Mapping[str, float]
    line: int


def read_rankings(path: Path, *, unknown: Callable[[GivenRanking], Iterable[str]] | None = None) -> list[GivenRanking]:
    """Return the rankings of a file in its order.

    A line is an object with `id`, `annotator` (all lines without one are of one person, who is nobody that is named), and
    either `ranking`, a list of groups of models, the best first, those of a group equally good, or `scores`, a finite
    number a model, higher is better. A model that a line does not name was not ranked there. Other fields are overlooked.

    Args:
        path: the file.
        unknown: says what of a ranking is not known, see `unknown_in`.

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
            who = one.annotator or "the annotator without a name"
            more = "" if one.annotator else "; say with 'annotator' who ranked, where there are several"
            faults.append(f"{where}: {who} ranks sample {one.sample_id!r} on line {first} already{more}")
        if unknown is not None:
            faults += [f"{where}: {wrong}" for wrong in unknown(one)]
        found.append(one)
    if not found and not faults:
        raise DataError(f"{path}: no ranking in it; {_FORMS}")
    _refuse(faults)
    return found


def unknown_in(
    one: GivenRanking, answered: Mapping[str, Collection[str]], models: Collection[str], *, responses: str
) -> Iterator[str]:
    """Yield what a ranking names and is not there.

    Args:
        one: the ranking.
        answered: by the id of each sample of the data, the models that have a response to it.
        models: all that have a response to any.
        responses: what the files of these are called.
    """
    if one.sample_id not in answered:
        yield f"the data have no sample {one.sample_id!r}"
        return
    for model in one.scores:
        if model not in models:
            yield f"{responses} has no response of a model {model!r}"
        elif model not in answered[one.sample_id]:
            yield f"{responses} has no response of {model} to sample {one.sample_id!r}"


def _refuse(faults: list[str], most: int = 10) -> None:
    if faults:
        more = [f"... and {len(faults) - most} more"] if len(faults) > most else []
        raise DataError("\n".join([*faults[:most], *more]) + "\nMend these lines, or take them out")


def _ranking(fields: Mapping[str, Any], line: int) -> GivenRanking:
    id, annotator = fields.get("id"), fields.get("annotator", UNNAMED)
    id = str(id) if type(id) is int else id
    if not isinstance(id, str) or not id.strip():
        raise ValueError("the field 'id' is missing, empty, or no text")
    annotator = str(annotator) if type(annotator) is int else annotator
    if not isinstance(annotator, str) or ("annotator" in fields and not annotator.strip()):
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
