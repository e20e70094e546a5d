"""Python functions that read, compare, correct, continue and write what runs left in a home."""

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
"""A page limit with which a list is read on one page."""


async def _read(
    settings: Settings | None, home: HomeLike | None, work: Callable[[OperationContext], T], *runs: object
) -> T:
    """Return what is read from a home, in a thread, so that the event loop goes on.

    Args:
        settings: home and configuration; read from the environment by default.
        home: a home in place of that of the settings.
        work: reads in the open home.
        runs: the runs that are read, of which a `RunResult` knows its home.
    """
    configuration, opened_home = place_of(settings, home, *runs)

    def read() -> T:
        with open_for_reading(configuration, opened_home) as opened:
            return work(OperationContext(settings=configuration, home=opened))

    return await asyncio.to_thread(read)


@python_verb()
async def show(run: RunLike = "last", *, settings: Settings | None = None, home: HomeLike | None = None) -> RunDetail:
    """Return a run with its status, what it spent, its estimate and its figures.

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
    """Return the runs of a home, the newest first.

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
    """Return the comparison of two runs on the samples that both have, or of files by item: the second minus the first.

    A `Path`, and a text that names an existing file, also as `NAME=FILE`, is a file of results of another harness, or of any
    table; beside one, runs are compared by the ids of items, too. Files need no home.

    Args:
        first: a run: its name, the beginning of its id, or `last`; or a `RunResult`; or a file.
        others: another run, by default `last`; or several files and runs, of which every two models are compared.
        second: the other run or file, by its name.
        models: compare this model of the first with that one of the second.
        top: how many changed samples are listed, at most.
        seed: seed of intervals and tests; by default the first run's, and 0 of files.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.
        format: the format of files, such as `inspect`; by default by their content.
        scorer: the scorer, the metric or the column of scores of files.
        columns: the columns of tables by field, such as `{"item": "question_id"}`; or by file, each with its own, such as
            `{"b.csv": {"item": "id"}}`.
        scale: the lowest and the highest score of files.

    Raises:
        NotFound: there is no such run or file.
        InputError: the runs cannot be compared, or a file cannot be used.
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
    """Return two models as operations take them."""
    return None if models is None else ",".join(models)


def _run_or_path(name: Path | RunLike) -> str:
    return str(name) if isinstance(name, Path) else name_of_run(name)


def _refuse_missing(names: Sequence[Path | RunLike]) -> None:
    """Check that what looks like a file is there.

    Raises:
        NotFound: it is not.
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
    """Return the rows of files, and of runs beside them.

    Args:
        names: files and runs.
        place: settings and home in which runs are read.
        format: the format of files.
        scorer: the scorer, the metric or the column of scores of files.
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
    """Return the ranks of models over the data sets of several runs, which hold for all models at once.

    Args:
        runs: names, beginnings of ids, or `RunResult`s; by default all finished runs of the method that most of them are of.
        tags: without `runs`, only runs with each of these tags.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if all runs have reference answers.
        seed: seed of tests.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the runs have no board.
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
    """Return whether a run is worse than its baseline by more than is allowed.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        baseline: the run that it is compared with, over samples in common.
        max_drop: the largest allowed drop, 0 to 100 percent of the scale; for accuracy, percentage points.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if both runs have reference answers.
        models: compare this model of the baseline with that one of the run.
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
async def bundle(
    run: RunLike = "last", path: str | Path = "", *, settings: Settings | None = None, home: HomeLike | None = None
) -> Path:
    """Write a finished run to a file from which another home gets the same figures; return the file's path.

    It has the run's rows, its calls in the ledger, its images and its configuration, those of runs that it was made from, and
    nothing of other runs. The same run of the same home gives the same bytes.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        path: the file, by default RUN.dokimasia in the working folder, by the run's name if it has one; one that exists is
            replaced.
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
    """Add the run of a bundle to a home, which is made if it is missing, without a call; return what was added.

    Everything is verified before the home is changed. A run that the home has already stays as it is.

    Args:
        path: the file.
        settings: home and configuration; read from the environment by default.
        home: the folder of the home; by default that of the settings.

    Raises:
        InputError: the file is no bundle, is damaged, or was written by a newer version.
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
    """Return the rows of a run or of a file of results, with the types of their columns; with `output` also as a file.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`; or a file, as `diff` takes it.
        output: a file of JSON lines, CSV or Parquet.
        format: `jsonl`, `csv`, `excel` (CSV that Excel opens) or `parquet`; by default by the file's ending.
        source_format: of a file of results: its format, such as `inspect`; by default by its content.
        scorer: of a file of results: the scorer, the metric or the column of scores.
        columns: of a table: its columns by field, such as `{"item": "question_id"}`.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run or file.
        InputError: the file cannot be used or written, or its format is unknown.
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
    """Write the report of a run, or of files of results, and return its path: one page that needs no network, or Markdown.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`; or a file, as `diff` takes it, or several.
        output: the file (`.html` or `.md`); by default `reports/RUN.html` in the home, and of files a page in the working
            folder.
        samples: how many samples are shown, at most.
        source_format: of files: their format, such as `inspect`; by default by their content.
        scorer: of files: the scorer, the metric or the column of scores.
        columns: of tables: the columns by field, or by file, as `diff` takes them.
        scale: of files: the lowest and the highest score.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run or file.
        InputError: a file cannot be used or written, or its ending is that of another format.
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
"""The same; `dokimasia.report` is the package that draws reports, so that the front door calls it `write_report`."""


@python_verb()
async def diagnose(
    run: RunLike = "last",
    *,
    tree: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    home: HomeLike | None = None,
) -> Diagnosis:
    """Return the tables that say where a run's models are weak and strong, as `dokimasia diagnose RUN --json` prints them.

    Args:
        run: an evaluation: its name, the beginning of its id, or `last`; or a `RunResult`.
        tree: a capability tree or a version of one; by default the run's, or else the data's categories.
        seed: seed of intervals and permutations; by default the run's.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: the run is no evaluation, or there is no such tree.
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
    """Return how far judgements of files agree with correct values and people, beside how far people agree.

    Args:
        files: JSON lines, JSON, CSV, TSV or workbooks: paths, or NAME=PATH with the name of the judge.
        columns: by field (`item`, `judge`, `value`, `swapped`, `gold`, `order`, `first`, `second`, `cluster`, `first_length`,
            `second_length`) the column that holds it.
        people: people: columns, or names in the column of judges.
        judges: judges, likewise.
        kind: what the judgements are; by default as they look.
        numbers: what a number says of a pair.
        by_place: whether a verdict of the swapped order names a place, and not a response.
        epsilon: what the test of replacement grants a judge: 0.2 beside experts, 0.15 beside skilled people, 0.1 beside crowds.

    Raises:
        NotFound: there is no such file.
        InputError: a line, a column or epsilon cannot be used.
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
    """Return the rates of a run as its judge decided, and corrected for the judge's errors.

    Args:
        run: an evaluation or an audit: its name, the beginning of its id, or `last`; or a `RunResult`.
        passport: a file with the judge's passport.
        human: a file of people's labels, as annotations.
        mix: a file with the mix of kinds of error.
        by_category: whether the labels are random draws of each category, rather than of all answers.
        width: the width of an interval that labels are counted for, as a share of the scale, above 0 and below 1.
        settings: home and configuration; read from the environment by default.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        InputError: the run has no decisions, neither passport nor labels are given, or a file cannot be used.
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
        NotFound: a run is no audit.
        InputError: the other audit has other rubrics, or a file cannot be used.
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
    """Return the passport of a judge: what probes measured of it; with `output` it is written to a file, too.

    Args:
        judge: its name as the probes show it, such as J, J@low or J+tools.
        output: a file for `passports=` of other verbs.
        runs: the probes to make it from; by default all finished ones that asked the judge.
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
    """Continue an interrupted run from the store alone, and return its result.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        retry: whether failed items are asked anew, as new draws; or the kinds of failure whose items are.
        settings: home, configuration and keys; read from the environment by default.
        observer: receives the progress.
        stop: lets other code ask the run to stop.
        transports: transports that replace the package's own, by name.
        chat_models: the LangChain chat models that the run asks, by name.
        home: a folder, or a home that is open for writing, which the caller closes.
        changes: limits of this invocation, such as `max_cost`; None lifts one.

    Raises:
        NotFound: there is no such run.
        InputError: its failures cannot be asked anew, `retry` names no kind of failure, or what it was accepted with has changed.
        ConfigError: a chat model is missing, or prompts or graphs are not those of the run any more.
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
    """Repeat a finished run with another judge, model or prompt, as a run of its own, and return its result.

    Args:
        parent: the run: its name, the beginning of its id, or `last`; or a `RunResult`.
        request: what changes.
        settings: home, configuration and keys; read from the environment by default.
        home: a folder, or a home that is open for writing, which the caller closes.
        fields: fields of `ForkRequest`, such as `judge` or `node`, in place of a request; and `observer`, `stop`,
            `transports`, `chat_models` and `given`, as of other verbs.

    Raises:
        NotFound: there is no such run.
        InputError: nothing changes, the run is unfinished, or runs of its kind are not forked.
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
