"""Python functions that read, compare, correct, continue and write what runs left in a home."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from dokimasia.algorithms.statistics.replacement import EPSILON
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.passport import Passport
from dokimasia.domain.ports import Transport
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
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.lifecycle import resume as resume_run
from dokimasia.runs.method import Export
from dokimasia.runs.observer import Observer
from dokimasia.runs.outcome import retryable
from dokimasia.runs.reading.reporting import SAMPLES
from dokimasia.runs.requests import Invocation
from dokimasia.runs.services import Stop
from dokimasia.runs.verbs import request_of
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.bundles import Opened, write_bundle
from dokimasia.storage.bundles import open_bundle as add_bundle
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import Run, RunStatus

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dokimasia.integrations import ResultsFile
    from dokimasia.methods.audit.analyses import AnalysedAudit
    from dokimasia.report.results import ResultsComparison

T = TypeVar("T")

WHOLE = 2**31
"""A page limit with which a list is read on one page."""


@contextmanager
def _reading(settings: Settings | None, home: Home | None) -> Iterator[Home]:
    """Yield the open home that is given, or that of the settings, open for reading."""
    if home is not None:
        yield home
        return
    with Home.open((settings or load_settings()).home, write=False) as opened:
        yield opened


async def _read(settings: Settings | None, home: Home | None, work: Callable[[Home], T]) -> T:
    """Return what is read from a home, in a thread, so that the event loop goes on."""

    def read() -> T:
        with _reading(settings, home) as opened:
            return work(opened)

    return await asyncio.to_thread(read)


async def _operate(settings: Settings | None, home: Home | None, work: Callable[[OperationContext], T]) -> T:
    """Return what an operation reads from a home, in a thread, as `_read`."""
    loaded = settings or load_settings()
    return await _read(loaded, home, lambda opened: work(OperationContext(settings=loaded, home=opened)))


async def show(run: str = "last", *, settings: Settings | None = None, home: Home | None = None) -> RunDetail:
    """Return a run with its status, what it spent, its estimate and its figures.

    Args:
        run: its name, the beginning of its id, or `last`.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
    """
    return await _operate(settings, home, lambda context: one_run(context, run))


async def list_runs(
    *,
    tags: Sequence[str] = (),
    status: RunStatus | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> list[RunShown]:
    """Return the runs of a home, the newest first.

    Args:
        tags: only runs with each of these tags.
        status: only runs of this status.
        method: only runs of this method.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no home.
    """

    def read(context: OperationContext) -> list[RunShown]:
        return list_of_runs(context, tag=list(tags), status=status, method=method, limit=WHOLE).runs

    return await _operate(settings, home, read)


@overload
async def diff(
    first: str,
    second: str = "last",
    *,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> RunComparison: ...


@overload
async def diff(
    first: Path,
    *others: Path | str,
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
    format: str | None = None,
    scorer: str | None = None,
    columns: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
) -> "ResultsComparison": ...


async def diff(
    first: str | Path,
    *others: str | Path,
    second: str | Path = "last",
    models: tuple[str, str] | None = None,
    top: int = 10,
    seed: int | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
    format: str | None = None,
    scorer: str | None = None,
    columns: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
) -> "RunComparison | ResultsComparison":
    """Return the comparison of two runs on the samples that both have, or of files by item: the second minus the first.

    A `Path` is a file of results of another harness, or of any table; beside one, runs are compared by the ids of items,
    too. Files need no home.

    Args:
        first: a run: its name, the beginning of its id, or `last`; or the path of a file.
        others: another run, by default `last`; or several paths and runs, of which every two models are compared.
        second: the other run, by its name.
        models: compare this model of the first with that one of the second.
        top: how many changed samples are listed, at most.
        seed: seed of intervals and tests; by default the first run's, and 0 of files.
        settings: home and configuration; read from the environment by default.
        home: an open home.
        format: the format of files, such as `inspect`; by default by their content.
        scorer: the scorer, the metric or the column of scores of files.
        columns: the columns of tables by field, such as `{"item": "question_id"}`.
        scale: the lowest and the highest score of files.

    Raises:
        NotFound: there is no such run or file.
        InputError: the runs cannot be compared, or a file cannot be used.
    """
    names = (first, *(others or (second,)))
    if len(names) == 2 and not any(isinstance(name, Path) for name in names):
        runs, pair = ",".join(map(str, names)), _joined(models)
        return await _operate(settings, home, lambda context: compare(context, runs, models=pair, top=top, seed=seed))
    from dokimasia.integrations import read_results
    from dokimasia.runs.reading.result_files import compare_results, results_of_run

    def compare_files() -> "ResultsComparison":
        sources: list[ResultsFile] = []
        for name in names:
            if isinstance(name, Path):
                sources.append(read_results(name, format=format, scorer=scorer, columns=columns))
            else:
                with _reading(settings, home) as opened:
                    sources.append(results_of_run(opened, resolve_run(opened, name)))
        return compare_results(sources, models=models, scale=scale, top=top, seed=seed or 0)

    return await asyncio.to_thread(compare_files)


async def board(
    *runs: str,
    tags: Sequence[str] = (),
    measure: Measure | None = None,
    seed: int = 0,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Board:
    """Return the ranks of models over the data sets of several runs, which hold for all models at once.

    Args:
        runs: names, or beginnings of ids; by default all finished runs of the method that most of them are of.
        tags: without `runs`, only runs with each of these tags.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if all runs have reference answers.
        seed: seed of tests.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the runs have no board.
    """
    names, labels = ",".join(runs), list(tags) or None
    return await _operate(settings, home, lambda context: rank(context, names, labels, measure, seed))


async def gate(
    run: str = "last",
    *,
    baseline: str,
    max_drop: float,
    measure: Measure | None = None,
    models: tuple[str, str] | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Gate:
    """Return whether a run is worse than its baseline by more than is allowed.

    Args:
        run: its name, the beginning of its id, or `last`.
        baseline: the run that it is compared with, over samples in common.
        max_drop: the largest allowed drop, 0 to 100 percent of the scale; for accuracy, percentage points.
        measure: `accuracy` (0 to 1) or `score`; by default accuracy, if both runs have reference answers.
        models: compare this model of the baseline with that one of the run.
        seed: seed of intervals; by default the baseline's.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the runs cannot be compared.
    """
    pair = _joined(models)
    return await _operate(
        settings, home, lambda context: decide_gate(context, run, baseline, max_drop, measure, pair, seed)
    )


def _joined(models: tuple[str, str] | None) -> str | None:
    """Return a pair of models as operations take it: two names with a comma between them."""
    return None if models is None else ",".join(models)


async def bundle(
    run: str = "last", path: str | Path = "", *, settings: Settings | None = None, home: Home | None = None
) -> Path:
    """Write a finished run to a file from which another home gets the same figures; return the file's path.

    It has the run's rows, its calls in the ledger, its images and its configuration, those of runs that it was made from, and
    nothing of other runs. The same run of the same home gives the same bytes.

    Args:
        run: its name, the beginning of its id, or `last`.
        path: the file, by default RUN.dokimasia in the working folder; one that exists is replaced.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the run is not finished, or the file cannot be written.
    """

    def write(opened: Home) -> Path:
        row = resolve_run(opened, run)
        file = Path(path or f"{row.id}.dokimasia")
        write_bundle(opened, row, file)
        return file

    return await _read(settings, home, write)


async def open_bundle(path: str | Path, *, settings: Settings | None = None) -> Opened:
    """Add the run of a bundle to a home, which is made if it is missing, without a call; return what was added.

    Everything is verified before the home is changed. A run that the home has already stays as it is.

    Args:
        path: the file.
        settings: home and configuration; read from the environment by default.

    Raises:
        InputError: the file is no bundle, is damaged, or was written by a newer version.
        StorageError: the home cannot be written.
    """
    return await add_bundle(Path(path), (settings or load_settings()).home)


async def export(
    run: str = "last",
    output: str | Path | None = None,
    *,
    format: str | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Export:
    """Return the rows of a run, with the types of their columns; with `output` they are written to a file, too.

    Args:
        run: its name, the beginning of its id, or `last`.
        output: a file of JSON lines, CSV or Parquet.
        format: `jsonl`, `csv` or `parquet`; by default by the file's ending.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the file cannot be written, or its format is unknown.
    """
    from dokimasia.runs.reading.exporting import encode, export_rows, format_of, write_whole

    with _reading(settings, home) as opened:
        rows = await export_rows(opened, resolve_run(opened, run))
    if output is not None:
        path = Path(output)
        write_whole(path, encode(rows, format_of(format, path)))
    return rows


async def write_report(
    run: str = "last",
    output: str | Path | None = None,
    *,
    samples: int = SAMPLES,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Path:
    """Write the report of a run and return its path: one page that needs no network, or Markdown (`.md`).

    Args:
        run: its name, the beginning of its id, or `last`.
        output: the file; by default `reports/RUN.html` in the home.
        samples: how many samples are shown, at most.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the file cannot be written, or its ending is that of another format.
    """
    from dokimasia.runs.reading.reporting import write_report as write

    settled = settings or load_settings()
    path = None if output is None else Path(output)
    with _reading(settled, home) as opened:
        redact = Redactor(settled.secrets)
        written = await write(opened, resolve_run(opened, run), output=path, samples=samples, redact=redact)
    return written.path


report = write_report
"""The same; `dokimasia.report` is the package that draws reports, so that the front door calls it `write_report`."""


async def diagnose(
    run: str = "last",
    *,
    tree: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Diagnosis:
    """Return the tables that say where a run's models are weak and strong, as `dokimasia diagnose RUN --json` prints them.

    Args:
        run: an evaluation: its name, the beginning of its id, or `last`.
        tree: a capability tree or a version of one; by default the run's, or else the data's categories.
        seed: seed of intervals and permutations; by default the run's.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: the run is no evaluation, or there is no such tree.
        InputError: the run has no scores.
    """
    from dokimasia.methods.diagnosis.tables import diagnose as tables
    from dokimasia.methods.tree import evaluation_of

    def read(opened: Home) -> Diagnosis:
        evaluation, own_tree = evaluation_of(opened, run)
        return tables(opened, evaluation, tree=tree or own_tree, seed=seed)

    return await _read(settings, home, read)


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


async def correct(
    run: str = "last",
    *,
    passport: str | Path | None = None,
    human: str | Path | None = None,
    mix: str | Path | None = None,
    by_category: bool = False,
    width: float | None = None,
    settings: Settings | None = None,
    home: Home | None = None,
) -> CorrectionFigures:
    """Return the rates of a run as its judge decided, and corrected for the judge's errors.

    Args:
        run: an evaluation or an audit: its name, the beginning of its id, or `last`.
        passport: a file with the judge's passport.
        human: a file of people's labels, as annotations.
        mix: a file with the mix of kinds of error.
        by_category: whether the labels are random draws of each category, rather than of all answers.
        width: the width of an interval that labels are counted for, as a share of the scale, above 0 and below 1.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: there is no such run.
        InputError: the run has no decisions, neither passport nor labels are given, or a file cannot be used.
    """
    from dokimasia.people.correction import correct as corrected
    from dokimasia.people.correction import is_correctable

    files = {name: _path(file) for name, file in (("passport", passport), ("human", human), ("mix", mix))}
    return await _read(
        settings,
        home,
        lambda opened: corrected(
            opened, resolve_run(opened, run, is_correctable), **files, by_category=by_category, width=width
        ),
    )


async def analyse(
    run: str = "last",
    *,
    ratings: str | Path | None = None,
    against: str | None = None,
    benchmarks: Mapping[str, str | Path] | None = None,
    passports: Sequence[str | Path] = (),
    settings: Settings | None = None,
    home: Home | None = None,
) -> "AnalysedAudit":
    """Return the figures of an audit with its analyses, as `dokimasia analyse RUN --json` prints them.

    Args:
        run: an audit: its name, the beginning of its id, or `last`.
        ratings: a file of outside ratings.
        against: an audit of the same rubrics by another judge.
        benchmarks: by name, files with another benchmark's scores of the models.
        passports: the passports of both judges, to weight them.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: a run is no audit.
        InputError: the other audit has other rubrics, or a file cannot be used.
    """
    from dokimasia.methods.audit.analyses import analyse as analysed
    from dokimasia.storage.naming import comparable_with, of_method

    def read(opened: Home) -> "AnalysedAudit":
        row = resolve_run(opened, run, of_method("audit"))
        return analysed(
            opened,
            row,
            ratings=_path(ratings),
            against=None if against is None else resolve_run(opened, against, comparable_with(row)),
            benchmarks={name: Path(file) for name, file in (benchmarks or {}).items()},
            passports=[Path(file) for file in passports],
        )

    return await _read(settings, home, read)


async def make_passport(
    judge: str,
    output: str | Path | None = None,
    *,
    runs: Sequence[str] = (),
    seed: int = 0,
    settings: Settings | None = None,
    home: Home | None = None,
) -> Passport:
    """Return the passport of a judge: what probes measured of it; with `output` it is written to a file, too.

    Args:
        judge: its name as the probes show it, such as J, J@low or J+tools.
        output: a file for `passports=` of other verbs.
        runs: the probes to make it from; by default all finished ones that asked the judge.
        seed: seed of the halves and intervals.
        settings: home and configuration; read from the environment by default.
        home: an open home.

    Raises:
        NotFound: no finished probe asked the judge.
    """
    from dokimasia.operations.passports import one_passport
    from dokimasia.people.passports import write_passport

    def read(context: OperationContext) -> Passport:
        return Passport.model_validate(one_passport(context, judge, run=list(runs) or None, seed=seed))

    passport = await _operate(settings, home, read)
    if output is not None:
        write_passport(passport, Path(output))
    return passport


async def resume(
    run: str | Run = "last",
    *,
    retry: bool | Collection[FailureKind] = False,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    chat_models: "Mapping[str, BaseChatModel] | None" = None,
    home: Home | None = None,
    **changes: object,
) -> RunResult:
    """Continue an interrupted run from the store alone, and return its result.

    Args:
        run: its name, the beginning of its id, or `last`.
        retry: whether failed items are asked anew, as new draws; or the kinds of failure whose items are.
        settings: home, configuration and keys; read from the environment by default.
        observer: receives the progress.
        stop: lets other code ask the run to stop.
        transports: transports that replace the package's own, by name.
        chat_models: the LangChain chat models that the run asks, by name.
        home: a home that is open for writing, which the caller closes.
        changes: limits of this invocation, such as `max_cost`; None lifts one.

    Raises:
        NotFound: there is no such run.
        InputError: its failures cannot be asked anew, `retry` names no kind of failure, or what it was accepted with has changed.
        ConfigError: a chat model is missing, or prompts or graphs are not those of the run any more.
        Interrupted: the run was asked to stop again.
    """
    settled = settings or load_settings()
    request_of(Invocation, "resume", changes)
    if isinstance(run, str):
        with _reading(settled, home) as opened:
            run = resolve_run(opened, run)
    named = retry if isinstance(retry, str) else ",".join(retry or ()) if retry is not True else ""
    kinds = retryable(named) if retry else ()
    return await resume_run(
        run,
        settings=settled,
        changes=changes,
        observer=observer,
        stop=stop,
        transports=transports,
        chat_models=chat_models,
        retry=kinds,
        home=home,
    )


async def fork(
    parent: str | Run, request: ForkRequest | None = None, *, settings: Settings | None = None, **fields: object
) -> RunResult:
    """Repeat a finished run with another judge, model or prompt, as a run of its own, and return its result.

    Args:
        parent: the run: its name, the beginning of its id, `last`, or its row.
        request: what changes.
        settings: home, configuration and keys; read from the environment by default.
        fields: fields of `ForkRequest`, such as `judge` or `node`, in place of a request; and `observer`, `stop`,
            `transports`, `chat_models`, `given` and `home`, as of other verbs.

    Raises:
        NotFound: there is no such run.
        InputError: nothing changes, the run is unfinished, or runs of its kind are not forked.
    """
    settled = settings or load_settings()
    names = ("observer", "stop", "transports", "chat_models", "given", "home")
    services: JsonObject = {name: fields.pop(name) for name in names if name in fields}
    fork_request = request_of(ForkRequest, "fork", fields) if request is None else request
    if isinstance(parent, str):
        with _reading(settled, services.get("home")) as opened:
            parent = resolve_run(opened, parent)
    return await fork_run(parent, fork_request, settings=settled, **services)


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)
