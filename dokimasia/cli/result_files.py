"""Result files in `diff`, `export` and `report`: their options, and the rows of files and of runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from dokimasia.cli.shared import prepared, reading, say_read, shown_path

if TYPE_CHECKING:
    from dokimasia.cli.backend import Backend
    from dokimasia.integrations import ColumnNames, ResultsFile
    from dokimasia.report.results import ResultsComparison

R = TypeVar("R")

FORMATS = ("inspect", "lmms-eval", "vlmevalkit", "promptfoo", "openai-evals", "table")


class FileOptions(NamedTuple):
    """How result files are read: their format, the columns of tables, the scorer, and the scale of scores."""

    format: str | None
    columns: "ColumnNames"
    scorer: str | None
    scale: tuple[float, float] | None

    @property
    def any(self) -> bool:
        """Whether an option was given."""
        return bool(self.format or self.columns or self.scorer or self.scale)


def results_options(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options on result files to a verb, which receives them as `files`."""

    def read_options(
        source_format: str | None, columns: tuple[str, ...], scorer: str | None, scale: str | None
    ) -> dict[str, FileOptions]:
        from dokimasia.integrations import parse_columns

        return {"files": FileOptions(source_format, parse_columns(columns), scorer, _scale(scale))}

    for option in reversed(
        (
            click.option(
                "--from",
                "source_format",
                type=click.Choice(FORMATS),
                help="Of files: the harness that wrote them (default: by their content).",
            ),
            click.option(
                "--map",
                "columns",
                multiple=True,
                metavar="FIELD=COLUMN,...",
                help="Of tables: the columns of item, answer, score, model, image, category, repeat, failure, reason; "
                "FILE:FIELD=COLUMN,... are those of a file alone.",
            ),
            click.option("--scorer", metavar="NAME", help="Of files: the scorer, metric or column of scores to read."),
            click.option("--scale", metavar="LOW,HIGH", help="Of files: the lowest and the highest score."),
        )
    ):
        function = option(function)
    return prepared(function, read_options, "source_format", "columns", "scorer", "scale")


def _scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise click.UsageError(f"--scale takes two numbers, such as 0,100, and not {text!r}") from None
    return low, high


def is_results_file(name: str) -> bool:
    """Return whether an argument names a file, alone or as `NAME=FILE`, rather than a run."""
    from dokimasia.integrations import is_results_file as names_file

    return names_file(name)


def missing_file(names: Sequence[str]) -> str | None:
    """Return the first argument that looks like a file but does not exist; None without one."""
    from dokimasia.integrations import missing_file as first_missing

    return first_missing(names)


def read_sources(backend: "Backend", names: Sequence[str], files: FileOptions) -> "list[ResultsFile]":
    """Return the rows of files and, from the home of this machine, of runs.

    Raises:
        click.UsageError: a run of a service is named.
        NotFound: there is no such file or run.
        DataError: a file cannot be used.
    """
    from dokimasia.datasets import named_file
    from dokimasia.errors import NotFound
    from dokimasia.integrations import check_columns, columns_of_file, read_results
    from dokimasia.runs.catalogue import method_of
    from dokimasia.runs.reading.result_files import results_of_run

    check_columns(files.columns, list(filter(is_results_file, names)))
    sources: list[ResultsFile] = []
    for name in names:
        if is_results_file(name):
            path = named_file(name)
            columns = columns_of_file(files.columns, name)
            source = read_results(path, format=files.format, scorer=files.scorer, columns=columns)
            sources.append(replace(source, path=Path(shown_path(source.path))))
            _say_rows(sources[-1])
            continue
        if missing_file([name]):
            raise NotFound(f"there is no file {name}")
        if backend.remote:
            raise click.UsageError(
                f"{name} is a run of a service, and files are compared on this machine: write it to a file first, with "
                f"dokimasia export {name} -o FILE.jsonl"
            )
        with reading(backend.settings, name, lambda run: method_of(run).scores.scale is not None) as (home, run):
            sources.append(results_of_run(home, run))
    return sources


def _say_rows(source: "ResultsFile") -> None:
    """Write a line on the rows, models and items of a file, and on its failures by kind."""
    from dokimasia.report.figures import several

    failed = sum(row.failure is not None for row in source.rows)
    say_read(
        source.path,
        several(len(source.rows), "row"),
        several(len(source.models), "model"),
        several(len({row.item for row in source.rows}), "item"),
        *([f"{failed:,} without a score"] if failed else []),
    )


def compare_sources(
    backend: "Backend",
    names: Sequence[str],
    files: FileOptions,
    *,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    alone: bool = False,
) -> "ResultsComparison":
    """Return the comparison of files and runs by item; see `dokimasia.runs.reading.result_files.compare_results`."""
    from dokimasia.runs.reading.result_files import compare_results

    sources = read_sources(backend, names, files)
    return compare_results(sources, models=models, scale=files.scale, top=top, seed=seed or 0, alone=alone)
