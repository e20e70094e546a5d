"""Figures of large finished runs, cached as files in the home, so that repeating a command need not compute them."""

from contextlib import suppress
from pathlib import Path

import orjson
from pydantic import BaseModel

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.exporting import make_folder, write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.usage import count_items
from dokimasia.version import source_version

FOLDER = "figures"
"""The folder of a home with one file for each run."""

LEAST_ITEMS = 2_000
"""The fewest results of a run whose figures are cached; smaller runs are computed in a moment."""


class KeptFigures(BaseModel):
    """The file of a run: its figures, and the state of database and program that they were computed from."""

    state: list[int | str]
    figures: JsonObject


def finished_figures(method: AnyMethod, home: Home, run: Run) -> JsonObject:
    """Return the figures of a finished run, from its cache file if neither database nor program has changed.

    A cache file is valid as long as both are unchanged: the database by its file, which every commit writes to, and the
    program by its sources.
    """
    state = _state(home) if count_items(home, run.id)[1] >= LEAST_ITEMS else None
    path = _file(home, run.id)
    if state is not None:
        with suppress(OSError, ValueError):  # missing or damaged: computed anew, and written anew
            kept = KeptFigures.model_validate(orjson.loads(path.read_bytes()))
            if kept.state == state:
                return kept.figures
    figures = method.json_figures(home, run)
    if state is not None and state == _state(home):
        with suppress(InputError):
            make_folder(path.parent)
            write_whole(path, orjson.dumps({"state": state, "figures": figures}))
    return figures


def forget_figures(home: Home, run_id: str) -> None:
    """Delete the cached figures of a run."""
    with suppress(OSError):
        _file(home, run_id).unlink()


def _file(home: Home, run_id: str) -> Path:
    return home.path / FOLDER / f"{run_id}.json"


def _state(home: Home) -> list[int | str] | None:
    """Return the state of the database and the program; None while part of the database is in its write-ahead log."""
    log = home.database.with_name(f"{home.database.name}-wal")
    try:
        if log.exists() and log.stat().st_size:
            return None
        file = home.database.stat()
    except OSError:
        return None
    return [file.st_ino, file.st_size, file.st_mtime_ns, source_version()]
