"""A diagnosis as files: every table as CSV, a picture of it as PNG, and all of them as one JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
from dokimasia.methods.diagnosis.measured import numbered
from dokimasia.runs.reading.exporting import csv_text, make_folder, write_whole

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def export(diagnosis: Diagnosis, folder: Path, *, further: Sequence[Asset] = ()) -> list[Path]:
    """Write all tables of a diagnosis into a folder and return the files, sorted; equal diagnoses give equal bytes.

    Args:
        diagnosis: the tables.
        folder: made where there is none; files of the same names are replaced.
        further: tables beside those of the diagnosis, such as what changed since another run.

    Raises:
        InputError: the folder cannot be written.
    """
    whole = diagnosis.model_copy(update={"assets": (*diagnosis.assets, *further)})
    figures = whole.model_dump(mode="json")
    return write_tables(folder, "diagnosis", figures, whole.assets, simulated=bool(diagnosis.simulated))


def write_tables(
    folder: Path, name: str, figures: Mapping[str, Any], assets: Iterable[Asset], *, simulated: bool
) -> list[Path]:
    """Write tables as CSV and PNG, and all figures as one JSON, into a folder, and return the files, sorted.

    Args:
        folder: made where there is none.
        name: of the JSON file.
        figures: what it holds.
        assets: the tables.
        simulated: whether every picture says that models are simulated.

    Raises:
        InputError: the folder cannot be written.
    """
    from dokimasia.methods.diagnosis.blocks.pictures import picture_of

    make_folder(folder)
    written = [folder / f"{name}.json"]
    write_whole(written[0], orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")
    names: set[str] = set()
    for asset in assets:
        stem = file_name(asset.id, names)
        written.append(folder / f"{stem}.csv")
        write_whole(written[-1], table_csv(asset))
        drawn = picture_of(asset, simulated=simulated)
        if drawn is not None:
            written.append(folder / f"{stem}.png")
            write_whole(written[-1], drawn)
    return sorted(written)


def table_csv(asset: Asset) -> bytes:
    """Return a table as comma-separated UTF-8: each estimate is followed by the ends of its interval."""
    estimated = [any(row.cells[at].estimated for row in asset.rows) for at in range(len(asset.columns))]
    header = ["row"]
    for column, has in zip(asset.columns, estimated, strict=True):
        title = f"{column.name} ({column.unit})" if column.unit else column.name
        header += [title, f"{column.name}, low", f"{column.name}, high"] if has else [title]
    rows: list[list[Any]] = [[*header, "n", "asked", "coverage", "mark", "model", "node"]]
    for number, row in enumerate(asset.rows, start=1):
        cells: list[Any] = [number]
        for cell, has in zip(row.cells, estimated, strict=True):
            low = f"no interval: {cell.no_interval}" if cell.no_interval else cell.low
            cells += [cell.value, low, cell.high] if has else [cell.value]
        cells += [row.n, row.held, row.coverage, row.mark, row.model, row.node]
        rows.append(cells)
    return csv_text(rows)


def file_name(id: str, taken: set[str]) -> str:
    """Return a file's name for an asset: its id without what a file's name should not hold; all differ."""
    base = _UNSAFE.sub("-", id).strip("-.")[:120] or "asset"
    name = next(one for one in numbered(base) if one.casefold() not in taken)
    taken.add(name.casefold())
    return name
