"""Read files of judgements by judges and people, with one judgement per line or a column for each judge and person."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from dokimasia.datasets import Problem, Row, name_and_file, named_file
from dokimasia.datasets.lines import FileProblems, location, raw_lines, read_rows, refuse
from dokimasia.datasets.tables import csv_delimiter, headed_rows, read_cells, workbook_rows
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import nearest, unguarded
from dokimasia.errors import ConfigError, DataError
from dokimasia.people.judgements.values import (
    BOTH_BAD,
    FIRST,
    SECOND,
    TIE,
    Numbers,
    Reading,
    read_ranking,
    read_score,
    read_verdict,
    shown,
    verdict_of,
)

Kind = Literal["pairs", "scores", "rankings"]

FIELDS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id"),
    "judge": ("judge", "annotator"),
    "value": ("value", "verdict", "score", "ranking"),
    "swapped": ("swapped",),
    "gold": ("gold",),
    "order": ("order",),
    "first": ("first",),
    "second": ("second",),
    "cluster": ("cluster",),
    "first_length": ("first_length",),
    "second_length": ("second_length",),
}
"""The fields of a line, each with its column's possible names; `--map` sets another name."""

ROW = "#"
"""The name that stands for the line's number in place of a column."""

_STRAIGHT = frozenset({"", "0", "1", "false", "no", "first", "straight", "ab", "original"})
_SWAPPED = frozenset({"2", "true", "yes", "second", "swapped", "swap", "ba", "reversed"})
_NUMERIC = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*", re.ASCII)


class JudgedItem(NamedTuple):
    """The judgements of an item, with the pair in the file's order and swapped; None for an order without one."""

    straight: Reading | None = None
    swapped: Reading | None = None

    @property
    def both(self) -> Reading:
        """Both orders as one judgement: a tie if two verdicts differ, the mean of two scores, or a failure."""
        if self.straight is None or self.swapped is None:
            return self.straight or self.swapped or Reading(None, failure="no value")
        first, second = self.straight, self.swapped
        if first.value is None or second.value is None:
            if first.value is None:
                return first
            return second
        mean = (first.value + second.value) / 2
        if first.label == second.label:
            return Reading(mean, first.label)
        if first.label in (FIRST, SECOND, TIE, BOTH_BAD):
            return Reading(0.0, TIE)
        return Reading(mean, f"{mean:g}")


class JudgementFile(NamedTuple):
    """The judgements of one or more files, grouped by item.

    Attributes:
        files: the names of the files.
        kind: the kind of the judgements; a ranking is split into its pairs.
        clusters: the cluster of each item, in the order of the files.
        gold: the correct value of an item.
        people: each person's judgements, by name and item; unreadable ones are left out.
        judges: each judge's judgements, by name and item; unreadable ones are kept.
        unreadable: the number of people's judgements and gold values that could not be read.
        battles: the names of the two responses of an item, in the order that its values refer to.
        lengths: the lengths of the two responses, in the same order, if known.
    """

    files: tuple[str, ...]
    kind: Kind
    clusters: dict[str, str]
    gold: dict[str, Reading]
    people: dict[str, dict[str, JudgedItem]]
    judges: dict[str, dict[str, JudgedItem]]
    unreadable: int
    battles: dict[str, tuple[str, str]]
    lengths: dict[str, tuple[float, float]]


class _RawLine(NamedTuple):
    """A line of a file: its location for messages, its number, the judge named by the file, and its fields."""

    where: str
    number: int
    name: str
    fields: JsonObject


class _Line(NamedTuple):
    """The contents of a line: the item's name, the two responses' names and lengths, its cluster and correct value.

    `names` is None if no two responses are named; missing texts are empty, and missing lengths 0.
    """

    raw: _RawLine
    base: str
    names: tuple[str, str] | None
    lengths: tuple[float, float]
    cluster: str
    gold: object

    @property
    def where(self) -> str:
        return self.raw.where

    @property
    def item(self) -> str:
        """The item's name; two responses have the same name in either order."""
        if self.names is None or not self.base:
            return self.base
        return f"{self.base}: {min(self.names)} | {max(self.names)}"

    @property
    def is_turned(self) -> bool:
        """Whether the responses are not in alphabetical order, to which values refer."""
        return self.names is not None and self.names[0] > self.names[1]


class _RawJudgement(NamedTuple):
    """A judgement before its value is read."""

    line: _Line
    judge: str
    value: object
    swapped: bool


def read_judgements(
    files: Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    people: Sequence[str] = (),
    judges: Sequence[str] = (),
    kind: Kind | None = None,
    numbers: Numbers | None = None,
    by_place: bool = False,
) -> JudgementFile:
    """Return the judgements of files, grouped by item.

    A file is JSON lines, a JSON array of objects, CSV, TSV or a workbook (.xlsx); text may be packed (.gz). Either a line
    is a judgement (`item`, `judge`, `value`), or it has a column for each person and judge. A value that cannot be read
    counts as a failure of its judge and raises no error.

    Args:
        files: paths, or NAME=PATH; NAME is the judge of a file without a column for the judge.
        columns: the column of each field (`item`, `judge`, `value`, `swapped`, `gold`, `order`, `first`, `second`, `cluster`,
            `first_length`, `second_length`): a name, several joined with +, a JSON pointer (`/results/-1/winner`), or #
            for the line's number.
        people: the names of people: columns, or values of the column for the judge.
        judges: the names of judges, likewise. Any other name is a judge if `people` has names, and a person if only
            `judges` has. If neither has, names from columns are people, and names from files are judges.
        kind: the kind of the judgements; by default numbers are scores, and texts are verdicts on pairs.
        numbers: the meaning of a number for a pair; by default steps if any number is negative, else places.
        by_place: whether a verdict on a swapped pair names a position instead of a response.

    Raises:
        NotFound: there is no such file.
        ConfigError: a column is in no file.
        DataError: a line is unusable; the message names file and line.
    """
    read = [line for file in files for line in _lines(file)]
    if not read:
        raise DataError(f"{', '.join(map(str, files))}: no judgement in it")
    chosen = _columns(read, columns or {}, [*people, *judges])
    lines = [_line(line, chosen) for line in read]
    wide = [name for name in (*people, *judges) if any(name in line.fields for line in read)]
    judgements = [*_wide(lines, wide, chosen)] if wide else [*_long(lines, chosen)]
    values = [judgement.value for judgement in judgements] + [line.gold for line in lines]
    if kind is None:
        kind = _kind(values, chosen)
    _check_names([*people, *judges], {judgement.judge for judgement in judgements})
    roles = _roles([judgement.judge for judgement in judgements], people, judges, named="judge" in chosen or bool(wide))
    if kind == "pairs" and numbers is None:
        numbers = _numbers(values, lines[0].where)
    reader = _Reader(kind, numbers or "places", roles, by_place=by_place, ordered="order" in chosen)
    for line in lines:
        reader.take_line(line)
    for judgement in judgements:
        reader.take(judgement)
    refuse(reader.problems)
    names = dict.fromkeys(name_and_file(named_file(file))[1].name for file in files)
    return JudgementFile(
        tuple(names), kind, reader.clusters, reader.gold, *reader.sides(), reader.battles, reader.lengths
    )


class _Reader:
    """Collects lines and judgements, grouped by item."""

    def __init__(self, kind: Kind, numbers: Numbers, people: frozenset[str], *, by_place: bool, ordered: bool) -> None:
        self.kind: Kind = kind
        self.numbers: Numbers = numbers
        self.people, self.by_place, self.ordered = people, by_place, ordered
        self.clusters: dict[str, str] = {}
        self.gold: dict[str, Reading] = {}
        self.battles: dict[str, tuple[str, str]] = {}
        self.lengths: dict[str, tuple[float, float]] = {}
        self.problems: list[str] = []
        self._judgements: dict[str, dict[str, JudgedItem]] = {}
        self._where: dict[tuple[str, str, bool], str] = {}
        self._unreadable = 0

    def take_line(self, line: _Line) -> None:
        """Add a line's item, cluster, pair and correct value."""
        item, names = line.item, line.names
        if not item:
            self.problems.append(f"{line.where}: the item is missing; name its column with --map item=COLUMN")
            return
        if self.kind == "rankings":
            return
        self.clusters.setdefault(item, line.cluster or line.base)
        if names is not None:
            self.battles.setdefault(item, (min(names), max(names)))
            first, second = reversed(line.lengths) if line.is_turned else line.lengths
            if first and second:
                self.lengths.setdefault(item, (first, second))
        if line.gold is None:
            return
        reading = self._read(line.gold, line)
        if reading.value is None:
            self._unreadable += item not in self.gold
        elif self.gold.setdefault(item, reading).label != reading.label:
            before = self.gold[item].label
            self.problems.append(
                f"{line.where}: the gold value of {item!r} is {reading.label}, and was {before} before"
            )

    def take(self, judgement: _RawJudgement) -> None:
        """Add a judgement."""
        if self.kind == "rankings":
            self._take_ranking(judgement)
            return
        line, swapped = judgement.line, judgement.swapped
        reading = self._read(judgement.value, line)
        if swapped and self.by_place:
            reading = reading.turned
        if line.is_turned and not self.ordered:
            swapped = not swapped
        self._add(judgement, line.item, reading, swapped=swapped)

    def sides(self) -> tuple[dict[str, dict[str, JudgedItem]], dict[str, dict[str, JudgedItem]], int]:
        """Return people's readable judgements, all those of judges, and the number of people's unreadable values."""
        people: dict[str, dict[str, JudgedItem]] = {}
        judges: dict[str, dict[str, JudgedItem]] = {}
        for name, by_item in self._judgements.items():
            if name not in self.people:
                judges[name] = by_item
                continue
            people[name] = {item: judged for item, judged in by_item.items() if judged.both.value is not None}
            self._unreadable += len(by_item) - len(people[name])
        return people, judges, self._unreadable

    def _add(self, judgement: _RawJudgement, item: str, reading: Reading, *, swapped: bool) -> None:
        if judgement.judge in self.people and reading.failure == "no value":
            return
        first = self._where.setdefault((judgement.judge, item, swapped), judgement.line.where)
        if first != judgement.line.where:
            self.problems.append(
                f"{judgement.line.where}: {judgement.judge} judges {item!r} at {first} already; "
                "is the item made of several columns? Name them all, as in --map item=COLUMN+COLUMN"
            )
            return
        by_item = self._judgements.setdefault(judgement.judge, {})
        judged = by_item.get(item, JudgedItem())
        by_item[item] = judged._replace(swapped=reading) if swapped else judged._replace(straight=reading)

    def _take_ranking(self, judgement: _RawJudgement) -> None:
        """Add a ranking as its pairs; an unreadable ranking is a single failure."""
        ranked = read_ranking(judgement.value)
        base = judgement.line.base
        if ranked is None:
            self.clusters.setdefault(base, base)
            failure = "no value" if judgement.value is None else f"{shown(judgement.value)} is no ranking"
            self._add(judgement, base, Reading(None, failure=failure), swapped=False)
            return
        for first, second in combinations(sorted(ranked), 2):
            item = f"{base}: {first} | {second}"
            self.clusters.setdefault(item, judgement.line.cluster or base)
            self.battles.setdefault(item, (first, second))
            lead = ranked[first] - ranked[second]
            self._add(judgement, item, verdict_of(float(lead > 0) - float(lead < 0)), swapped=False)

    def _read(self, value: object, line: _Line) -> Reading:
        """Return the reading of a value; for a pair, it refers to the names in alphabetical order."""
        if self.kind == "scores":
            return read_score(value)
        reading = read_verdict(value, numbers=self.numbers, names=line.names)
        if line.is_turned:
            return reading.turned
        return reading


def _line(raw: _RawLine, columns: Mapping[str, str]) -> _Line:
    """Return the contents of a line, read from its fields' columns."""
    values = {field: cell(raw, column) for field, column in columns.items()}
    first, second = _text(values.get("first")), _text(values.get("second"))
    return _Line(
        raw,
        base=_text(values.get("item", raw.number)),
        names=(first, second) if first and second and first != second else None,
        lengths=(_length(values.get("first_length")), _length(values.get("second_length"))),
        cluster=_text(values.get("cluster")),
        gold=values.get("gold"),
    )


def cell(line: _RawLine, column: str) -> object:
    """Return the value of a line's column, or the joined text of several columns; None if it is missing."""
    if not column:
        return None
    if column == ROW:
        return line.number
    if column in line.fields:
        return line.fields[column]
    if column.startswith("/"):
        return _at(line.fields, column)
    if "+" in column:
        parts = [_text(cell(line, part)) for part in column.split("+")]
        if all(parts):
            return " · ".join(parts)
        return None
    return None


def _at(fields: JsonObject, pointer: str) -> object:
    """Return the value at a JSON pointer, where -1 is the last entry of a list; None if there is none."""
    value: object = fields
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.lstrip("-").isdecimal() and -len(value) <= int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _text(value: object) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()


def _length(value: object) -> float:
    """Return a length: a number, or the number of words of a text; 0 if missing."""
    text = _text(value)
    if _NUMERIC.fullmatch(text):
        return float(text)
    return float(len(text.split()))


def _columns(lines: Sequence[_RawLine], mapping: Mapping[str, str], people: Sequence[str]) -> dict[str, str]:
    """Return the column of each field that occurs in the files.

    Raises:
        ConfigError: a named column is in no file.
    """
    unknown = [field for field in mapping if field not in FIELDS]
    if unknown:
        raise ConfigError(f"--map knows no {unknown[0]!r}: it maps {', '.join(FIELDS)}")
    known = {name for line in lines for name in line.fields}
    column_list = f"the columns are {', '.join(sorted(known)[:20])}"
    columns = {field: next((name for name in names if name in known), "") for field, names in FIELDS.items()}
    for field, column in mapping.items():
        if column and not any(cell(line, column) is not None for line in lines):
            raise ConfigError(f"no line has anything in {column!r}, which --map names for {field}; {column_list}")
        columns[field] = column
    if not columns["item"] and not (columns["first"] and columns["second"]):
        raise ConfigError(
            f"no column is called 'item' or 'id': name it with --map item=COLUMN (# for the line); {column_list}"
        )
    if people and not columns["judge"] and not known.intersection(people):
        raise ConfigError(f"no column is called {people[0]!r}; {column_list}")
    return {field: column for field, column in columns.items() if column}


def _wide(lines: Sequence[_Line], names: Sequence[str], columns: Mapping[str, str]) -> Iterator[_RawJudgement]:
    """Yield the judgements of lines with a column for each judge; a file without the column has none by that judge."""
    present: set[tuple[str, str]] = set()
    for line in lines:
        present |= {(line.raw.name, name) for name in names if name in line.raw.fields}
    for line in lines:
        for name in names:
            if (line.raw.name, name) in present:
                swapped = "order" in columns and _is_swapped(line, columns["order"])
                yield _RawJudgement(line, name, line.raw.fields.get(name), swapped)


def _long(lines: Sequence[_Line], columns: Mapping[str, str]) -> Iterator[_RawJudgement]:
    """Yield the judgements of lines with one value each, or two if there is a column for the swapped order.

    Raises:
        ConfigError: there is no column of values.
    """
    if "value" not in columns:
        known = sorted({name for line in lines for name in line.raw.fields})
        raise ConfigError(
            "no column is called 'value': name it with --map value=COLUMN, or the columns of people and judges with "
            f"--people and --judges; the columns are {', '.join(known[:20])}"
        )
    for line in lines:
        judge = _text(cell(line.raw, columns["judge"])) if "judge" in columns else line.raw.name
        if not judge:
            raise DataError(f"{line.where}: the judge is missing")
        swapped = "order" in columns and _is_swapped(line, columns["order"])
        yield _RawJudgement(line, judge, cell(line.raw, columns["value"]), swapped)
        if "swapped" in columns:
            yield _RawJudgement(line, judge, cell(line.raw, columns["swapped"]), not swapped)


def _is_swapped(line: _Line, column: str) -> bool:
    order = _text(cell(line.raw, column)).casefold()
    if order not in _STRAIGHT and order not in _SWAPPED:
        raise DataError(f"{line.where}: the order {order!r} is neither 1 (as the pair stands) nor 2 (swapped)")
    return order in _SWAPPED


def _check_names(names: Sequence[str], known: Collection[str]) -> None:
    """Check that every name has judgements.

    Raises:
        ConfigError: a name has none; the message lists the names that have some.
    """
    for name in names:
        if name not in known:
            raise ConfigError(
                f"nothing is judged by {name!r}; the files have {', '.join(sorted(known)[:20])}{nearest(name, known)}"
            )


def _roles(names: Sequence[str], people: Sequence[str], judges: Sequence[str], *, named: bool) -> frozenset[str]:
    """Return the names of people; all other names are judges."""
    everybody = frozenset(names)
    if people:
        return everybody.intersection(people)
    if judges or named:
        return everybody.difference(judges)
    return frozenset()


def _kind(values: Sequence[object], columns: Mapping[str, str]) -> Kind:
    """Return the kind of pairs if lines name two responses, else the kind of most values.

    Lists and objects are rankings, numbers are scores, and other texts are verdicts on pairs.
    """
    if "first" in columns and "second" in columns:
        return "pairs"
    rankings = scores = pairs = 0
    for value in values:
        if isinstance(value, list | dict):
            rankings += 1
        elif isinstance(value, int | float) or (isinstance(value, str) and _NUMERIC.fullmatch(value)):
            scores += 1
        elif value is not None:
            pairs += 1
    if rankings > scores + pairs:
        return "rankings"
    return "scores" if scores > pairs else "pairs"


def _numbers(values: Sequence[object], where: str) -> Numbers:
    """Return whether numbers on pairs are places or steps.

    Raises:
        ConfigError: the only numbers are 0 and 1, which are ambiguous.
    """
    numbers = {float(str(value)) for value in values if not isinstance(value, bool) and _NUMERIC.fullmatch(str(value))}
    if numbers and numbers <= {0.0, 1.0} and len(numbers) == 2:
        raise ConfigError(
            f"{where}: verdicts are 0 and 1 alone: say with --numbers whether they are places (1 the first is better, 2 the "
            "second, 0 a tie) or steps (1 the first is better, -1 the second)"
        )
    if any(number < 0 for number in numbers):
        return "steps"
    return "places"


def _lines(file: str | Path) -> Iterator[_RawLine]:
    """Yield the lines of a file.

    Raises:
        DataError: lines are unreadable; the message names up to twenty.
    """
    name, path = name_and_file(named_file(file))
    problems = FileProblems(path)
    name = name or path.name.removesuffix(".gz").partition(".")[0]
    for row in problems.readable(_rows(path)):
        yield _RawLine(location(path, row.line, row.unit), row.line, name, row.fields)
    problems.refuse()


def _rows(path: Path) -> Iterator[Row | Problem]:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in (".xlsx", ".xlsm"):
        yield from headed_rows(path, workbook_rows(path), "row", _plain)
    elif suffix in (".csv", ".tsv"):
        delimiter = "\t" if suffix == ".tsv" else csv_delimiter(path)
        yield from headed_rows(path, read_cells(path, delimiter=delimiter), "line", _plain)
    elif suffix == ".json" or next(_bytes(path), b"").lstrip().startswith(b"["):
        yield from _array(path)
    else:
        yield from read_rows(path)


def _plain(cell: object) -> object:
    """Return a cell's value; None for an empty cell."""
    if not isinstance(cell, str):
        return cell
    return unguarded(cell.strip()) or None


def _array(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON array.

    Raises:
        DataError: the file is not a JSON array of objects.
    """
    try:
        entries = orjson.loads(b"".join(_bytes(path)))
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: broken JSON: {error}") from error
    for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
        if not isinstance(entry, dict):
            raise DataError(f"{location(path, number, 'entry')}: not a JSON object")
        yield Row(number, entry, "entry")
    if not isinstance(entries, list):
        raise DataError(f"{path}: an array of objects is expected, or one object a line (.jsonl)")


def _bytes(path: Path) -> Iterator[bytes]:
    for line in raw_lines(path, "the line is too long"):
        if isinstance(line, Problem):
            raise DataError(line.message)
        yield line
