"""Python functions that read, compare, correct, export and continue the runs of a home."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from dokimasia.algorithms.statistics.replacement import EPSILON
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.passport import Passport
from dokimasia.domain.ports import Transport
from dokimasia.errors import NotFound
from dokimasia.log import Redactor
from dokimasia.operations.operation import OperationContext
from dokimasia.operations.results import wrong as list_wrong
from dokimasia.operations.runs import RunDetail, RunShown, list_of_runs, one_run
from dokimasia.operations.runs import board as rank
from dokimasia.operations.runs import diff as compare
from dokimasia.operations.runs import gate as decide_gate
from dokimasia.people.correction.shape import CorrectionFigures
from dokimasia.people.judgements.reading import Kind
from dokimasia.people.judgements.shape import JudgementFigures
from dokimasia.people.judgements.values import Numbers
from dokimasia.report.board import Board, Measure
from dokimasia.report.comparison import RunComparison
from dokimasia.report.gate import Gate
from dokimasia.report.wrong import WrongAnswers
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.forking import fork as fork_run
from dokimasia.runs.lifecycle import HomeLike, RunLike, RunResult, name_of_run, open_for_reading, place_of
from dokimasia.runs.lifecycle import resume as resume_run
from dokimasia.runs.method import Export
from dokimasia.runs.observer import Observer
from dokimasia.runs.outcome import retryable
from dokimasia.runs.reading.reporting import SAMPLES
from dokimasia.runs.requests import Invocation
from dokimasia.runs.services import Stop
from dokimasia.runs.verbs import request_of
from dokimasia.runs.wording import python_verb
from dokimasia.settings import Settings
from dokimasia.storage.bundles import Opened, bundle_file, write_bundle
from dokimasia.storage.bundles import open_bundle as add_bundle
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import Run, RunStatus

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dokimasia.integrations import ColumnNames, ResultsFile
    from dokimasia.methods.audit.analyses import AnalysedAudit
    from dokimasia.report.results import ResultsComparison

T = TypeVar("T")

WHOLE = 2**31
"""A page limit that fits any list on one page."""


async def _read(
    settings: Settings | None, home: HomeLike | None, work: Callable[[OperationContext], T], *runs: object
) -> T:
    """Return the result of `work` in an open home, computed in a thread to keep the event loop free.

    Args:
        settings: home and configuration; read from the environment by default.
        home: a home in place of that of the settings.
        work: reads from the open home.
        runs: the runs to read; a `RunResult` knows its home.
    """
    configuration, opened_home = place_of(settings, home, *runs)

    def read() -> T:
        with open_for_reading(configuration, opened_home) as opened:
            return work(OperationContext(settings=configuration, home=opened))

    return await asyncio.to_thread(read)


@python_verb()
async def show(run: RunLike = "last", *, settings: Settings | None = None, home: HomeLike | None = None) -> RunDetail:
    """Return a run with its status, spending, estimate and figures.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
    """
    return await _read(settings, home, lambda context: one_run(context, name_of_run(run)), run)


@python_verb(tags="--tag")
async def list_runs(
    *,
    tags: Sequence[str] = (),
    status: RunStatus | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> list[RunShown]:
    """Return the runs of a home, newest first.

    Args:
        tags: only runs with each of these tags.
        status: only runs of this status.
        method: only runs of this method.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no home.
    """

    def read(context: OperationContext) -> list[RunShown]:
        return list_of_runs(context, tag=list(tags), status=status, method=method, limit=WHOLE).runs

    return await _read(settings, home, read)


@overload
async def diff(
    first: Run | RunResult,
    second: RunLike = "last",
    *,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> RunComparison: ...


@overload
async def diff(
    first: Path,
    *others: Path | RunLike,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
    format: str | None = None,
    scorer: str | None = None,
    columns: "ColumnNames | None" = None,
    scale: tuple[float, float] | None = None,
) -> "ResultsComparison": ...


@overload
async def diff(
    first: RunLike,
    *others: Path | RunLike,
    second: Path | RunLike | None = None,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
    format: str | None = None,
    scorer: str | None = None,
    columns: "ColumnNames | None" = None,
    scale: tuple[float, float] | None = None,
) -> "RunComparison | ResultsComparison": ...


@python_verb(columns="--map", format="--from")
async def diff(
    first: Path | RunLike,
    *others: Path | RunLike,
    second: Path | RunLike | None = None,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
    format: str | None = None,
    scorer: str | None = None,
    columns: "ColumnNames | None" = None,
    scale: tuple[float, float] | None = None,
) -> "RunComparison | ResultsComparison":
    """Return the comparison of two runs on the samples they share, or of files by item: the second minus the first.

    A `Path`, or a text that names an existing file (also as `NAME=FILE`), is a file with the results of another harness or
    any table. In a comparison with files, runs are also compared by the ids of items. Files need no home.

    Args:
        first: a run: its name, the beginning of its id, or `last`; or a `RunResult`; or a file.
        others: another run, by default `last`; or several files and runs, whose models are compared pairwise.
        second: the other run or file, as a keyword.
        models: a model of the first and the model of the second to compare it with.
        top: the maximum number of changed samples to list.
        seed: seed of intervals and tests; by default the first run's, and 0 for files.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.
        format: the format of files, such as `inspect`; by default recognised by their content.
        scorer: the scorer, the metric or the column of scores in files.
        columns: the columns of tables by field, such as `{"item": "question_id"}`; or separately for each file, such as
            `{"b.csv": {"item": "id"}}`.
        scale: the lowest and the highest possible score in files.

    Raises:
        NotFound: there is no such run or file.
        InputError: the runs cannot be compared, or a file is unusable.
    """
    from dokimasia.integrations import is_results_file

    names = [first, *others]
    if second is not None:
        names.append(second)
    if len(names) == 1 and not is_results_file(first):
        names.append("last")
    _refuse_missing(names)
    if len(names) == 2 and not any(map(is_results_file, names)):
        runs, pair = ",".join(map(_run_or_path, names)), _joined(models)
        return await _read(
            settings, home, lambda context: compare(context, runs, models=pair, top=top, seed=seed), *names
        )

    def compare_files() -> "ResultsComparison":
        from dokimasia.runs.reading.result_files import compare_results

        sources = _sources(names, place_of(settings, home, *names), format, scorer, columns)
        return compare_results(sources, models=models, scale=scale, top=top, seed=seed or 0)

    return await asyncio.to_thread(compare_files)


def _joined(models: tuple[str, str] | None) -> str | None:
    """Return two model names as the text that operations accept."""
    if models is None:
        return None
    return ",".join(models)


def _run_or_path(name: Path | RunLike) -> str:
    if isinstance(name, Path):
        return str(name)
    return name_of_run(name)


def _refuse_missing(names: Sequence[Path | RunLike]) -> None:
    """Check that every name that looks like a file is an existing file.

    Raises:
        NotFound: there is no such file.
    """
    from dokimasia.integrations import missing_file

    file = missing_file(names)
    if file is not None:
        raise NotFound(f"there is no file {file}")


def _sources(
    names: Sequence[Path | RunLike],
    place: tuple[Settings, Home | None],
    format: str | None,
    scorer: str | None,
    columns: "ColumnNames | None",
) -> "list[ResultsFile]":
    """Return the rows of files and of runs compared with them.

    Args:
        names: files and runs.
        place: the settings and the home of the runs.
        format: the format of files.
        scorer: the scorer, the metric or the column of scores in files.
        columns: the columns of tables.
    """
    from dokimasia.datasets import named_file
    from dokimasia.integrations import check_columns, columns_of_file, is_results_file, read_results
    from dokimasia.runs.reading.result_files import results_of_run

    columns = columns or {}
    check_columns(columns, [name for name in names if is_results_file(name)])
    sources: list[ResultsFile] = []
    for name in names:
        if is_results_file(name):
            own = columns_of_file(columns, name)
            source = read_results(named_file(name), format=format, scorer=scorer, columns=own)
            if source.path.is_relative_to(Path.cwd()):
                source = replace(source, path=source.path.relative_to(Path.cwd()))
            sources.append(source)
        else:
            with open_for_reading(*place) as opened:
                sources.append(results_of_run(opened, resolve_run(opened, _run_or_path(name))))
    return sources


@python_verb(tags="--tag")
async def board(
    *runs: RunLike,
    tags: Sequence[str] = (),
    measure: Measure | None = None,
    seed: int = 0,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Board:
    """Return the simultaneous ranks of models over the data sets of several runs.

    Args:
        runs: names, beginnings of ids, or `RunResult`s; by default all finished runs of the most frequent method.
        tags: without `runs`, only runs with each of these tags.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if all runs have reference answers.
        seed: seed of tests.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: no board can be made from the runs.
    """
    names = ",".join(map(name_of_run, runs))

    def read(context: OperationContext) -> Board:
        return rank(context, names, list(tags) or None, measure, seed)

    return await _read(settings, home, read, *runs)


@python_verb()
async def gate(
    run: RunLike = "last",
    *,
    baseline: RunLike,
    max_drop: float,
    measure: Measure | None = None,
    models: tuple[str, str] | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Gate:
    """Return whether a run is worse than its baseline by more than the allowed drop.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        baseline: the run to compare with, over the samples they share.
        max_drop: the largest allowed drop, 0 to 100 percent of the scale; for accuracy, percentage points.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if both runs have reference answers.
        models: a model of the baseline and the model of the run to compare with it.
        seed: seed of intervals; by default the baseline's.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the runs cannot be compared.
    """
    names = name_of_run(run), name_of_run(baseline)

    def read(context: OperationContext) -> Gate:
        return decide_gate(context, *names, max_drop, measure, _joined(models), seed)

    return await _read(settings, home, read, run, baseline)


@python_verb()
async def wrong_answers(
    run: RunLike = "last",
    *,
    models: Sequence[str] = (),
    limit: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> WrongAnswers:
    """Return the answers of a run that were judged wrong or, in a run without verdicts, those with the lowest scores.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        models: only answers of these models; empty: of all.
        limit: the number of listed answers, at most, from 1 (default: 20).
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the results of the run are not judged answers, or it has no such model.
    """

    def read(context: OperationContext) -> WrongAnswers:
        return list_wrong(context, name_of_run(run), list(models) or None, limit)

    return await _read(settings, home, read, run)


@python_verb()
async def bundle(
    run: RunLike = "last", path: str | Path = "", *, settings: Settings | None = None, home: HomeLike | None = None
) -> Path:
    """Write a finished run to a file that reproduces its figures in another home; return the file's path.

    The file has the rows, ledger calls, images and configuration of the run and of the runs on which it is based, and nothing
    of other runs. The same run of the same home gives the same bytes.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        path: the file; by default RUN.dokimasia in the working folder, with the run's name or, without one, its id. An
            existing file is replaced.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the run is not finished, or the file cannot be written.
    """

    def write(context: OperationContext) -> Path:
        row = resolve_run(context.home, name_of_run(run))
        file = Path(path or bundle_file(context.home, row))
        write_bundle(context.home, row, file)
        return file

    return await _read(settings, home, write, run)


@python_verb()
async def open_bundle(path: str | Path, *, settings: Settings | None = None, home: str | Path | None = None) -> Opened:
    """Add the run of a bundle to a home without a call, and return what was added; a missing home is created.

    Everything is verified before the home changes. A run that the home already has stays unchanged.

    Args:
        path: the bundle.
        settings: home and configuration; read from the environment by default.
        home: the folder of the home; by default that of the settings.

    Raises:
        InputError: the file is not a bundle, is damaged, or was written by a newer version.
        StorageError: the home cannot be written.
    """
    configuration, _ = place_of(settings, home)
    return await add_bundle(Path(path), configuration.home)


@python_verb(columns="--map", source_format="--from", output="-o")
async def export(
    run: Path | RunLike = "last",
    output: str | Path | None = None,
    *,
    format: str | None = None,
    source_format: str | None = None,
    scorer: str | None = None,
    columns: "ColumnNames | None" = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Export:
    """Return the rows of a run or of a file of results, with column types; with `output`, also write them to a file.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`; or a file, as in `diff`.
        output: a file of JSON lines, CSV or Parquet, or a workbook (`.xlsx`).
        format: `jsonl`, `csv`, `excel` (CSV that Excel opens), `xlsx` or `parquet`; by default that of the file's extension.
        source_format: the format of a file of results, such as `inspect`; by default recognised by its content.
        scorer: the scorer, the metric or the column of scores in a file of results.
        columns: the columns of a table by field, such as `{"item": "question_id"}`.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run or file.
        InputError: the file is unusable or cannot be written, or its format is unknown.
    """
    from dokimasia.integrations import is_results_file
    from dokimasia.runs.reading.exporting import encode, export_rows, format_of, write_whole
    from dokimasia.runs.reading.result_files import export_results

    _refuse_missing([run])
    place = place_of(settings, home, run)
    if is_results_file(run):
        rows = export_results(_sources([run], place, source_format, scorer, columns))
    else:
        with open_for_reading(*place) as opened:
            rows = await export_rows(opened, resolve_run(opened, _run_or_path(run)))
    if output is not None:
        path = Path(output)
        write_whole(path, encode(rows, format_of(format, path)))
    return rows


@python_verb(columns="--map", source_format="--from", output="-o")
async def write_report(
    run: Path | RunLike | Sequence[str | Path] = "last",
    output: str | Path | None = None,
    *,
    samples: int = SAMPLES,
    source_format: str | None = None,
    scorer: str | None = None,
    columns: "ColumnNames | None" = None,
    scale: tuple[float, float] | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Path:
    """Write the report of a run or of files of results, as a self-contained page or as Markdown, and return its path.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`; or one or more files, as in `diff`.
        output: the file (`.html` or `.md`); by default `reports/RUN.html` in the home or, for files, a page in the working
            folder.
        samples: the maximum number of samples to show.
        source_format: the format of files, such as `inspect`; by default recognised by their content.
        scorer: the scorer, the metric or the column of scores in files.
        columns: the columns of tables, by field or by file, as in `diff`.
        scale: the lowest and the highest possible score in files.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run or file.
        InputError: a file is unusable or cannot be written, or has the extension of another format.
    """
    from dokimasia.integrations import is_results_file
    from dokimasia.runs.reading.exporting import write_whole
    from dokimasia.runs.reading.reporting import format_of, render
    from dokimasia.runs.reading.reporting import write_report as write
    from dokimasia.runs.reading.result_files import compare_results, report_file, results_report

    names: list[Path | RunLike] = [run] if isinstance(run, str | Path | Run | RunResult) else [*run]
    _refuse_missing(names)
    path = None if output is None else Path(output)
    configuration, opened_home = place_of(settings, home, *names)
    redact = Redactor(configuration.secrets)
    if len(names) > 1 or any(map(is_results_file, names)):
        sources = _sources(names, (configuration, opened_home), source_format, scorer, columns)
        format = format_of(path)
        comparison = compare_results(sources, scale=scale, alone=True)
        page = redact(render(results_report(comparison), format).decode()).encode()
        path = path or report_file(list(map(_run_or_path, names)), format)
        write_whole(path, page)
        return path
    with open_for_reading(configuration, opened_home) as opened:
        row = resolve_run(opened, _run_or_path(names[0]))
        written = await write(opened, row, output=path, samples=samples, redact=redact)
    return written.path


report = write_report
"""An alias of `write_report`; `dokimasia` exports that name, since `dokimasia.report` is the package that draws reports."""


@python_verb()
async def diagnose(
    run: RunLike = "last",
    *,
    tree: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Diagnosis:
    """Return the tables of a run's strong and weak points by model, as in `dokimasia diagnose RUN --json`.

    Args:
        run: an evaluation: its name, the beginning of its id, or `last`; or a `RunResult`.
        tree: a capability tree or one of its versions; by default the run's or, without one, the data's categories.
        seed: seed of intervals and permutations; by default the run's.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: the run is not an evaluation, or there is no such tree.
        InputError: the run has no scores.
    """
    from dokimasia.methods.diagnosis.tables import diagnose as tables
    from dokimasia.methods.tree import evaluation_of

    def read(context: OperationContext) -> Diagnosis:
        evaluation, own_tree = evaluation_of(context.home, name_of_run(run))
        return tables(context.home, evaluation, tree=tree or own_tree, seed=seed)

    return await _read(settings, home, read, run)


@python_verb(columns="--map")
async def compare_judgements(
    files: Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    people: Sequence[str] = (),
    judges: Sequence[str] = (),
    kind: Kind | None = None,
    numbers: Numbers | None = None,
    by_place: bool = False,
    epsilon: float = EPSILON,
) -> JudgementFigures:
    """Return the agreement of judgements in files with correct values and people, and that of people with each other.

    Args:
        files: JSON lines, JSON, CSV, TSV or workbooks: paths, or NAME=PATH with the name of the judge.
        columns: by field (`item`, `judge`, `value`, `swapped`, `gold`, `order`, `first`, `second`, `cluster`, `first_length`,
            `second_length`) the column that contains it.
        people: columns of people's judgements, or names of people in the column of judges.
        judges: columns or names of judges, likewise.
        kind: the kind of judgement; by default recognised by the values.
        numbers: the meaning of a number for a pair.
        by_place: whether a verdict in the swapped order names a position instead of a response.
        epsilon: the advantage of a judge in the replacement test: 0.2 against experts, 0.15 against skilled people, 0.1
            against crowds.

    Raises:
        NotFound: there is no such file.
        InputError: a line, a column or epsilon is unusable.
    """
    from dokimasia.people.judgements import judgement_figures, read_judgements

    def compare_files() -> JudgementFigures:
        judgements = read_judgements(
            files, columns=columns, people=people, judges=judges, kind=kind, numbers=numbers, by_place=by_place
        )
        return judgement_figures(judgements, epsilon=epsilon)

    return await asyncio.to_thread(compare_files)


@python_verb()
async def correct(
    run: RunLike = "last",
    *,
    passport: str | Path | None = None,
    human: str | Path | None = None,
    mix: str | Path | None = None,
    by_category: bool = False,
    width: float | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> CorrectionFigures:
    """Return the rates of a run as decided by its judge, and corrected for the judge's errors.

    Args:
        run: an evaluation or an audit: its name, the beginning of its id, or `last`; or a `RunResult`.
        passport: a file with the judge's passport.
        human: a file of people's labels, as annotations.
        mix: a file with the mix of kinds of error.
        by_category: whether the labels are random draws of each category, rather than of all answers.
        width: the interval width for which to count the required labels, as a share of the scale, above 0 and below 1.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the run has no decisions, neither passport nor labels are given, or a file is unusable.
    """
    from dokimasia.people.correction import correct as corrected
    from dokimasia.people.correction import is_correctable

    def read(context: OperationContext) -> CorrectionFigures:
        return corrected(
            context.home,
            resolve_run(context.home, name_of_run(run), is_correctable),
            passport=_path(passport),
            human=_path(human),
            mix=_path(mix),
            by_category=by_category,
            width=width,
        )

    return await _read(settings, home, read, run)


@python_verb(passports="--passport", benchmarks="--benchmark")
async def analyse(
    run: RunLike = "last",
    *,
    ratings: str | Path | None = None,
    against: RunLike | None = None,
    benchmarks: Mapping[str, str | Path] | None = None,
    passports: Sequence[str | Path] = (),
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> "AnalysedAudit":
    """Return the figures of an audit with its analyses, as `dokimasia analyse RUN --json` prints them.

    Args:
        run: an audit: its name, the beginning of its id, or `last`; or a `RunResult`.
        ratings: a file of outside ratings.
        against: an audit of the same rubrics by another judge.
        benchmarks: by name, files with another benchmark's scores of the models.
        passports: the passports of both judges, to weight them.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: a run is not an audit.
        InputError: the other audit has different rubrics, or a file is unusable.
    """
    from dokimasia.methods.audit.analyses import analyse as analysed
    from dokimasia.storage.naming import comparable_with, of_method

    def read(context: OperationContext) -> "AnalysedAudit":
        opened = context.home
        row = resolve_run(opened, name_of_run(run), of_method("audit"))
        return analysed(
            opened,
            row,
            ratings=_path(ratings),
            against=None if against is None else resolve_run(opened, name_of_run(against), comparable_with(row)),
            benchmarks={name: Path(file) for name, file in (benchmarks or {}).items()},
            passports=[Path(file) for file in passports],
        )

    return await _read(settings, home, read, run)


@python_verb(runs="--run", output="-o")
async def make_passport(
    judge: str,
    output: str | Path | None = None,
    *,
    runs: Sequence[RunLike] = (),
    seed: int = 0,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Passport:
    """Return the passport of a judge, with its measurements by probes; with `output`, also write it to a file.

    Args:
        judge: the judge's name as displayed by probes, such as J, J@low or J+tools.
        output: the file, which other verbs accept as `passports=`.
        runs: the probes to use; by default all finished probes that asked the judge.
        seed: seed of the halves and intervals.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: no finished probe asked the judge.
    """
    from dokimasia.operations.passports import one_passport
    from dokimasia.people.passports import write_passport

    names = list(map(name_of_run, runs))

    def read(context: OperationContext) -> Passport:
        return Passport.model_validate(one_passport(context, judge, run=names or None, seed=seed))

    passport = await _read(settings, home, read, *runs)
    if output is not None:
        write_passport(passport, Path(output))
    return passport


@python_verb(retry="--retry-failed")
async def resume(
    run: RunLike = "last",
    *,
    retry: bool | Collection[FailureKind] = False,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    chat_models: "Mapping[str, BaseChatModel] | None" = None,
    home: HomeLike | None = None,
    **changes: object,
) -> RunResult:
    """Continue an interrupted run from its home alone, and return its result.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        retry: whether to retry failed items, as new draws; or the kinds of failure to retry.
        settings: home, configuration and keys; read from the environment by default.
        observer: receives the progress.
        stop: lets other code ask the run to stop.
        transports: transports that replace the package's own, by name.
        chat_models: the LangChain chat models that the run asks, by name.
        home: a folder, or a home open for writing, which the caller closes.
        changes: limits of this invocation, such as `max_cost`; None lifts one.

    Raises:
        NotFound: there is no such run.
        InputError: its failures cannot be retried, `retry` names an unknown kind of failure, or the run's inputs have changed.
        ConfigError: a chat model is missing, or the prompts or graphs differ from those of the run.
        Interrupted: the run was asked to stop again.
    """
    place = configuration, opened_home = place_of(settings, home, run)
    request_of(Invocation, "resume", changes)
    kinds: Collection[FailureKind] = ()
    if retry is True:
        kinds = retryable("")
    elif retry:
        kinds = retryable(retry if isinstance(retry, str) else ",".join(retry))
    return await resume_run(
        _row_of(run, place),
        settings=configuration,
        changes=changes,
        observer=observer,
        stop=stop,
        transports=transports,
        chat_models=chat_models,
        retry=kinds,
        home=opened_home,
    )


@python_verb(ForkRequest, node="--from")
async def fork(
    parent: RunLike,
    request: ForkRequest | None = None,
    *,
    settings: Settings | None = None,
    home: HomeLike | None = None,
    **fields: object,
) -> RunResult:
    """Repeat a finished run with another judge, model or prompt as a new run, and return its result.

    Args:
        parent: the finished run: its name, the beginning of its id, or `last`; or a `RunResult`.
        request: the changes.
        settings: home, configuration and keys; read from the environment by default.
        home: a folder, or a home open for writing, which the caller closes.
        fields: fields of `ForkRequest`, such as `judge` or `node`, in place of a request; and `observer`, `stop`,
            `transports`, `chat_models` and `given`, as in other verbs.

    Raises:
        NotFound: there is no such run.
        InputError: nothing changes, the run is unfinished, or runs of its method cannot be forked.
    """
    names = ("observer", "stop", "transports", "chat_models", "given")
    services: JsonObject = {name: fields.pop(name) for name in names if name in fields}
    place = configuration, opened_home = place_of(settings, home, parent)
    fork_request = request_of(ForkRequest, "fork", fields) if request is None else request
    return await fork_run(_row_of(parent, place), fork_request, settings=configuration, home=opened_home, **services)


def _row_of(run: RunLike, place: tuple[Settings, Home | None]) -> Run:
    if isinstance(run, Run):
        return run
    with open_for_reading(*place) as opened:
        return resolve_run(opened, name_of_run(run))


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)
