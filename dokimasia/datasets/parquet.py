"""The reader of Parquet files, with Hugging Face image columns; requires the extra `parquet`."""

import datetime
import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dokimasia.datasets.columns import Columns, as_list, row_of
from dokimasia.datasets.images import Embedded
from dokimasia.datasets.lines import Problem, Row, problem_at
from dokimasia.datasets.mapping import mapped_columns, with_templates
from dokimasia.datasets.tables import repeated_column
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError, DataError, NotFound

if TYPE_CHECKING:
    from pyarrow import Scalar, Schema
    from pyarrow.parquet import ParquetFile

PANDAS_INDEX = "__index_level_0__"
"""The index column added by pandas, which is not part of a sample."""

BATCH_ROWS = 16
"""The number of rows in memory at once; each may contain several images."""


def read_parquet(path: Path, mapping: Mapping[str, str] = MappingProxyType({})) -> Iterator[Row | Problem]:
    """Yield the rows of a Parquet file in order, counted from 1; `mapping` names columns, see `parse_mapping`.

    Columns are recognised by Dokimasia's names (`id`, `prompt`, `reference_answer`, `choices`) or common ones (`index`,
    `question`, `answer`, `options`); images are the columns that the file's Hugging Face metadata declares as images,
    else `images`, `image`, or `image_1`, `image_2`, ... In a table without ids, rows' numbers are the ids.

    Raises:
        ConfigError: pyarrow is not installed.
        NotFound: there is no such file.
        DataError: it is not a Parquet file, or the mapping names a missing column.
    """
    with _opened(path) as file:
        schema = file.schema_arrow
        columns = mapped_columns(schema.names, mapping, where=path, images=_declared_images(schema))
        for record in _records(path, file):
            if isinstance(record, Problem):
                yield record
                continue
            number, cells = record
            cells.pop(PANDAS_INDEX, None)
            values = _values(path, number, cells, columns.images)
            yield values if isinstance(values, Problem) else record_row(number, values, columns, mapping)


def read_columns(path: Path, columns: Collection[str]) -> Iterator[Row | Problem]:
    """Yield the rows of a Parquet file with only those of the named columns that it has.

    Raises:
        ConfigError: pyarrow is not installed.
        NotFound: there is no such file.
        DataError: it is not a Parquet file.
    """
    with _opened(path) as file:
        for record in _records(path, file, [name for name in file.schema_arrow.names if name in columns]):
            if isinstance(record, Problem):
                yield record
                continue
            values = _values(path, *record)
            yield values if isinstance(values, Problem) else Row(record[0], values, unit="row")


@contextmanager
def _opened(path: Path) -> "Iterator[ParquetFile]":
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(
            f"{path}: reading Parquet needs pyarrow; install it with: pip install dokimasia[parquet]"
        ) from error
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file, or is damaged or cut off: {_short(error)}") from error
    with file:
        if wrong := repeated_column(file.schema_arrow.names, "table"):
            raise DataError(f"{path}: {wrong}")
        yield file


def _records(
    path: Path, file: "ParquetFile", columns: list[str] | None = None
) -> "Iterator[tuple[int, dict[str, Scalar]] | Problem]":
    """Yield the number of each row and its cells by column; a last problem if reading ends before the file does."""
    import pyarrow

    number = 0
    try:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns):
            arrays = [(name, batch.column(index)) for index, name in enumerate(batch.schema.names)]
            for position in range(batch.num_rows):
                number += 1
                yield number, {name: array[position] for name, array in arrays}
    except (pyarrow.ArrowException, OSError) as error:
        wrong = f"damaged; nothing is read from here on: {_short(error)}"
        yield problem_at(path, number + 1, wrong, "syntax", unit="row")


def _values(path: Path, number: int, cells: "dict[str, Scalar]", images: Collection[str] = ()) -> JsonObject | Problem:
    """Return the values of cells, those of image columns unchanged; or the problem of one."""
    values: JsonObject = {}
    for name, cell in cells.items():
        try:
            value = cell.as_py()
        except (ValueError, OverflowError) as error:
            # text that is not UTF-8 (its error is a ValueError), dates out of range
            wrong = f"the column '{name}' cannot be read: {_short(error)}"
            return problem_at(path, number, wrong, "encoding", unit="row")
        values[name] = value if name in images else plain_cell(value)
    return values


def record_row(number: int, values: JsonObject, columns: Columns, mapping: Mapping[str, str]) -> Row:
    """Return the row of cells by column, with cells of image columns unchanged.

    Without a column for the id, the row's number is the id.
    """
    images: list[object] = []
    for name in columns.images:
        images += _images(values.pop(name, None))
    filled = {name: value for name, value in values.items() if not _blank(value)}
    if columns.id is None:
        columns = columns._replace(id="id")
        filled["id"] = str(number)
    return row_of(number, with_templates(filled, mapping), columns, unit="row", images=images)


def _declared_images(schema: "Schema") -> list[str] | None:
    """Return the columns that the file's Hugging Face metadata declares as images, in order; None without any."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return [name for name in schema.names if _is_image(features.get(name))] or None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return None


def _is_image(feature: object) -> bool:
    if isinstance(feature, list):
        return len(feature) == 1 and _is_image(feature[0])
    if not isinstance(feature, dict):
        return False
    return feature.get("_type") == "Image" or (
        feature.get("_type") in ("Sequence", "List", "LargeList") and _is_image(feature.get("feature"))
    )


def _images(value: object) -> list[object]:
    """Return the images of a cell: bytes, a path, {bytes, path}, or a list of these."""
    if value is None:
        return []
    if isinstance(value, list):
        return [image for part in value for image in _images(part)]
    if isinstance(value, bytes):
        return [Embedded(value)]
    if isinstance(value, str):
        if value.strip():
            return list(as_list(value))
        return []
    if isinstance(value, dict) and value.keys() <= {"bytes", "path"}:
        data, name = value.get("bytes"), value.get("path")
        if isinstance(data, bytes):
            return [Embedded(data, name if isinstance(name, str) else "")]
        return [] if name is None else [name]
    return [value]


def plain_cell(value: object) -> object:
    """Return a cell as a JSON value: dates as ISO text, bytes as their hash, NaN as missing."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isfinite(value):
            return value
        return str(value)
    if isinstance(value, dict):
        return {str(name): plain_cell(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_cell(part) for part in value]
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
