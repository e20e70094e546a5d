"""Columns named by the user for the fields of a sample: `FIELD=COLUMN`, or a template of several columns."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dokimasia.datasets.columns import Columns, as_list, columns_of, row_of
from dokimasia.datasets.lines import Problem, Row
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError, DataError

SAMPLE_FIELDS = (
    "id",
    "prompt",
    "hint",
    "image",
    "answer",
    "reference_answer",
    "reference_answers",
    "choices",
    "category",
)
"""The fields of a sample that `--map` can name a column for."""

_COLUMN = re.compile(r"\{([^{}]+)\}")


def parse_mapping(texts: Sequence[str], fields: Collection[str] = SAMPLE_FIELDS) -> dict[str, str]:
    r"""Return columns by field from `FIELD=COLUMN,FIELD=COLUMN`; a text with braces is one field and its template.

    In a template `\n` is the end of a line.

    Raises:
        ConfigError: a part names no field, or no column.

    Examples:
        >>> parse_mapping(["id=pid,category=task", r"prompt={question}\n{options}"])
        {'id': 'pid', 'category': 'task', 'prompt': '{question}\n{options}'}
    """
    columns: dict[str, str] = {}
    for part in (part for text in texts for part in ([text] if "{" in text else text.split(","))):
        name, _, column = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        if name not in fields or not column:
            raise ConfigError(f"--map {part.strip()}: write FIELD=COLUMN, with a field of {', '.join(fields)}")
        if name in columns:
            raise ConfigError(f"--map names the column of {name} twice")
        columns[name] = column.replace("\\n", "\n") if "{" in column else column
    return columns


def mapped_columns(
    header: Sequence[str],
    mapping: Mapping[str, str],
    *,
    where: Path,
    images: Sequence[str] | None = None,
    own_names: bool = True,
) -> Columns:
    """Return the column of each field: those named by the mapping, and the others as recognised by `columns_of`.

    A column used in a template is not a field, unless the mapping says so; it becomes `meta`. The template takes the
    place of its column, and `with_templates` adds its text to a row.

    Args:
        header: the columns' names.
        mapping: columns or templates by field, see `parse_mapping`.
        where: the data set, for messages.
        images: the columns declared as images.
        own_names: see `columns_of`.

    Raises:
        DataError: the mapping names a column that is not in the header.
    """
    in_templates = {name for column in mapping.values() for name in _COLUMN.findall(column)}
    plain = {column for column in mapping.values() if not _COLUMN.search(column)}
    if lacking := sorted((in_templates | plain) - {*header}):
        raise DataError(f"{where} has no column {lacking[0]!r}, which --map names; it has {', '.join(header)}")
    columns = columns_of([name for name in header if name not in in_templates], own_names=own_names, images=images)
    names: dict[str, object] = {
        name: mapping[name] for name in ("id", "prompt", "hint", "choices", "category") if name in mapping
    }
    if "prompt" in mapping:
        names.setdefault("hint", None)
    if "choices" in mapping:
        names["letters"] = ()
    if "image" in mapping:
        names["images"] = (mapping["image"],)
    if "reference_answers" in mapping:
        names["answers"] = mapping["reference_answers"]
    for field in ("answer", "reference_answer"):
        if field in mapping:
            names |= {"answer": mapping[field], "answer_is_text": field == "reference_answer"}
    return columns._replace(**names)


def with_templates(values: Mapping[str, object], mapping: Mapping[str, str]) -> JsonObject:
    """Return cells by column, with the text of each template under the template itself."""
    filled = dict(values)
    for template in mapping.values():
        if _COLUMN.search(template):
            text = _COLUMN.sub(lambda match: _text(values.get(match[1])), template).strip()
            filled |= {template: text} if text else {}
    return filled


def mapped_rows(rows: Iterable[Row | Problem], path: Path, mapping: Mapping[str, str]) -> Iterator[Row | Problem]:
    """Yield rows of fields with the columns of the mapping, which may differ from row to row.

    Raises:
        DataError: no row has a column of the mapping.
    """
    missing: set[str] | None = None
    header: list[str] = []
    named = {name for column in mapping.values() for name in (_COLUMN.findall(column) or [column])}
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        missing = named - row.fields.keys() if missing is None else missing - row.fields.keys()
        header = header or list(row.fields)
        columns = mapped_columns([*row.fields, *(named - row.fields.keys())], mapping, where=path)
        values = {name: value for name, value in row.fields.items() if value is not None and value != ""}
        images: list[object] = []
        for name in columns.images:
            value = values.get(name, [])
            images += value if isinstance(value, list) else [value]
        yield row_of(row.line, with_templates(values, mapping), columns, unit=row.unit, images=images)
    if missing:
        raise DataError(
            f"{path}: no row has {sorted(missing)[0]!r}, which --map names; the first has {', '.join(header)}"
        )


def _text(value: object) -> str:
    """Return a cell as shown in a template: a list as options by letter, one a line."""
    if value is None:
        return ""
    if isinstance(value, str):
        options: Sequence[object] = as_list(value)
        if options == [value]:
            return value
    elif isinstance(value, list):
        options = value
    else:
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        return str(value)
    return "\n".join(f"{chr(ord('A') + place)}. {option}" for place, option in enumerate(options))
