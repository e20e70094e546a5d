"""Verbs for results: `show` in the terminal, `export` as rows for other tools, `report` as a page, `diff` of two runs."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.drawing import print_blocks
from dokimasia.cli.requests import DOLLARS
from dokimasia.cli.result_files import (
    FileOptions,
    compare_sources,
    is_results_file,
    missing_file,
    read_sources,
    results_options,
)
from dokimasia.cli.shared import FILE, console, grid, json_option, print_json, redact, say
from dokimasia.report.figures import cost_text, several

if TYPE_CHECKING:
    from dokimasia.report.blocks import Block
    from dokimasia.runs.reading.reporting import Format
    from dokimasia.storage.runs import Run


STANDARD_OUTPUT = Path("-")
FORMS = ("preferences", "vlmevalkit", "perturbations")
"""Formats of other programs in which `export` can write runs of some methods."""


TableFormat = Literal["text", "latex"]

format_option = click.option(
    "--format",
    type=click.Choice(get_args(TableFormat)),
    default="text",
    show_default=True,
    help="latex: the tables alone, for booktabs.",
)


@click.command()
@click.argument("run", default="last")
@click.option("--sample", help="Show this sample whole.")
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Only what is about this model. May be repeated."
)
@click.option("--raw", is_flag=True, help="With --sample: also every request and reply as it was sent.")
@click.option(
    "--full", is_flag=True, help="All tables with all columns; by default the conclusion and the first table."
)
@click.option(
    "--search", metavar="TEXT", help="List the samples nearest to this text by meaning; their texts are embedded."
)
@click.option("--answers", is_flag=True, help="With --search: search the answers instead of the questions.")
@click.option(
    "--wrong",
    is_flag=True,
    help="List the answers that were judged wrong; of a run without verdicts, the lowest scores.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 500),
    help="With --search: so many samples (default: 10). With --wrong: so many answers (default: 20).",
)
@click.option("--max-cost", type=DOLLARS, help="With --search: US dollars to spend at most.")
@click.option("--dry-run", is_flag=True, help="With --search: embed nothing, and say what it would cost.")
@format_option
@json_option
@with_backend
def show(
    backend: Backend,
    run: str,
    sample: str | None,
    models: tuple[str, ...],
    raw: bool,
    full: bool,
    search: str | None,
    wrong: bool,
    dry_run: bool,
    format: TableFormat,
    as_json: bool,
    **searching: object,
) -> None:
    """Show the results of RUN: its name or the beginning of its id; by default the newest run."""
    from dokimasia import operations
    from dokimasia.cli.drawing import print_run

    if raw and sample is None:
        raise click.UsageError("--raw goes with --sample ID")
    if wrong:
        if sample is not None or search is not None or full or format == "latex":
            raise click.UsageError("--wrong lists answers; leave --sample, --search, --full and --format out")
        if dry_run or any(value for name, value in searching.items() if name != "limit"):
            raise click.UsageError("--answers, --max-cost and --dry-run go with --search TEXT")
        _print_wrong(backend, run, models, searching.get("limit"), as_json=as_json)
        return
    if search is not None:
        if sample is not None or models or full or format == "latex":
            raise click.UsageError("--search lists samples; leave --sample, --model, --full and --format out")
        _print_nearest(backend, run, search, as_json=as_json, dry_run=dry_run, **searching)
        return
    if dry_run or any(searching.values()):
        raise click.UsageError(
            "--answers, --limit, --max-cost and --dry-run go with --search TEXT (--limit also with --wrong)"
        )
    if format == "latex":
        if sample is not None or as_json:
            raise click.UsageError("--format latex writes the tables of a run; leave --sample and --json out")
        row = backend.find(run)
        chosen = list(models) or None
        latex = backend.call(operations.results.report, run=row.id, format=format, full=full, model=chosen)
        stream(latex.parts())
        return
    print_run(backend, run, as_json=as_json, sample=sample, raw=raw, full=full, models=models)


def _print_wrong(backend: Backend, run: str, models: tuple[str, ...], limit: object, *, as_json: bool) -> None:
    """Print the answers of a run that were judged wrong."""
    from dokimasia import operations
    from dokimasia.report.wrong import wrong_blocks

    answers = backend.call(operations.results.wrong, run=run, model=list(models) or None, limit=limit)
    if as_json:
        print_json(answers)
    else:
        print_blocks(wrong_blocks(answers))


def _print_nearest(backend: Backend, run: str, text: str, *, as_json: bool, dry_run: bool, **options: object) -> None:
    """Print the samples nearest to a text by meaning, or with `dry_run` what the search would embed."""
    from dokimasia import operations

    body = {name: value for name, value in options.items() if value is not None}
    row = backend.find(run)
    near = backend.call(operations.results.search, run=row.id, body={"text": text, "estimate": dry_run, **body})
    if as_json:
        print_json(near)
        return
    verb = "would embed" if dry_run else "embedded"
    calls = f"{several(near.texts, 'text')} in {several(near.calls, 'call')}"
    say(f"{near.model} {verb} {calls}, for about {cost_text(near.cost)}")
    if dry_run:
        return
    table = grid("similarity", "sample")
    for sample in near.samples:
        table.add_row(f"{sample.similarity:.2f}", escape(redact(sample.sample)))
    console().print(table if near.samples else f"run {row.id} has no text to search")


@click.command()
@click.argument("run", default="last")
@click.option(
    "--format",
    "name",
    type=click.Choice(["jsonl", "csv", "excel", "xlsx", "parquet"]),
    help="Default: by the ending of the file, else jsonl; excel is CSV that Excel opens, xlsx a workbook.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    help="Write a folder, named with -o: preferences (pairs to train by; of evaluations, duels and arenas), "
    "vlmevalkit (of duels), or perturbations.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write here (default, and with -: standard output)."
)
@results_options
@with_backend
def export(
    backend: Backend, run: str, name: str | None, form: str | None, output: Path | None, files: FileOptions
) -> None:
    """Write one row for each item of RUN (by default the newest), for an evaluation each answer.

    The same run gives the same bytes.

    Tables as LaTeX: dokimasia show RUN --format latex.

    RUN may be a file of results of another harness: its rows, with a score or a kind of failure, are written as a table.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe in front; JSON lines and Parquet are
    exact.
    """
    from dokimasia import operations
    from dokimasia.runs.catalogue import method_of
    from dokimasia.runs.reading.exporting import format_of, write_whole

    output = None if output == STANDARD_OUTPUT else output
    if form is not None:
        if is_results_file(run):
            raise click.UsageError("--as writes runs of some methods, and no file of results; leave it out")
        export_form(backend, run, form, output, name)
        return
    if output is not None and output.is_dir():
        raise click.UsageError(f"{output} is a folder; name a file with -o")
    file_format = format_of(name, output)
    if file_format == "parquet" and output is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is no text for a terminal: name a file with -o, or redirect the output")
    if is_results_file(run):
        from dokimasia.runs.reading.exporting import encode
        from dokimasia.runs.reading.result_files import export_results

        rows = export_results(read_sources(backend, [run], files))
        if output is None:
            stream([encode(rows, file_format)])
        else:
            write_whole(output, encode(rows, file_format))
            click.echo(f"wrote {several(len(rows.rows), 'result')} to {output}", err=True)
        return
    _refuse_file_options(files)
    row = backend.find(run)
    exported = backend.call(operations.results.export, run=row.id, format=file_format)
    if row.status != "done":
        click.echo(f"run {row.id} is {row.status}: what has no result yet is not in the export", err=True)
    with closing(exported):
        if output is None:
            stream(exported.parts())
            return
        write_whole(output, exported.parts())
        click.echo(f"wrote {exported.headers['dokimasia-rows']} {method_of(row).results.name} to {output}", err=True)


def _refuse_file_options(files: FileOptions) -> None:
    if files.any:
        raise click.UsageError("--from, --map, --scorer and --scale are for files of results, and no file is named")


def export_form(backend: Backend, run: str, form: str, output: Path | None, name: str | None) -> None:
    """Write a run's files in another program's format to a folder, which is created if missing."""
    from dokimasia import operations
    from dokimasia.operations.results import unzipped
    from dokimasia.runs.reading.preferences import COUNTS, counts_said

    if output is None or name is not None:
        raise click.UsageError("--as writes several files: name their folder with -o, and leave --format out")
    row = backend.find(run)
    files = unzipped(backend.call(operations.results.export, run=row.id, format=form).data)
    if row.status != "done":
        click.echo(f"run {row.id} is {row.status}: what has no result yet is not in the export", err=True)
    _write_folder(backend, output, files)
    if COUNTS in files:
        click.echo(counts_said(files[COUNTS]), err=True)


def _write_folder(backend: Backend, output: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a folder, which is created if missing.

    Raises:
        InputError: the folder cannot be created, or a file would lie outside it.
    """
    from dokimasia.errors import InputError
    from dokimasia.runs.reading.exporting import make_folder, write_whole

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output} is no folder to write to: {error.strerror}; name another with -o") from error
    for file in files:
        if not (output / file).resolve().is_relative_to(output.resolve()):
            raise InputError(f"{backend.named} names a file {file!r}, which leads out of {output}: nothing was written")
    for file, data in files.items():
        make_folder((output / file).parent)
        write_whole(output / file, data)
    click.echo(f"wrote {len(files)} files to {output}", err=True)


@click.command()
@click.argument("run", default="last")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="Write to this folder."
)
@click.option("--format", type=click.Choice(["svg", "pdf", "png"]), default="svg", show_default=True)
@with_backend
def charts(backend: Backend, run: str, output: Path, format: str) -> None:
    """Write the charts of the report on RUN (by default the newest) as files, each with its caption, named by its section.

    The same run gives the same bytes. Needs the extra `charts` where the run is (Matplotlib); a treemap stays on the page.
    """
    from dokimasia import operations
    from dokimasia.operations.results import unzipped

    row = backend.find(run)
    reply = backend.call(operations.results.charts, run=row.id, format=format)
    if left_out := int(reply.headers.get("dokimasia-left-out") or 0):
        say(f"{several(left_out, 'chart')} can be drawn on the page alone: dokimasia report {row.id}")
    _write_folder(backend, output, unzipped(reply.data))


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]")
@click.option(
    "-o", "--output", type=FILE, help="Write here (default: reports/RUN.html in the home); - is standard output."
)
@click.option(
    "--format",
    "name",
    type=click.Choice(["html", "md"]),
    help="Default: as the file's name ends, else html; md with -o -.",
)
@click.option(
    "--samples", type=click.IntRange(0), default=60, show_default=True, help="Show so many samples, failures first."
)
@results_options
@json_option
@with_backend
def report(
    backend: Backend,
    runs: tuple[str, ...],
    output: Path | None,
    name: "Format | None",
    samples: int,
    files: FileOptions,
    as_json: bool,
) -> None:
    """Write a report on RUN, by default the newest: one page that needs no network, or Markdown; prints its path.

    In place of RUN there may be files of results of other harnesses, which are reported, and compared, on one page.

    With `-o -` the report itself is printed, as Markdown unless --format says otherwise.

    The same run gives the same bytes. Its figures are those of `dokimasia show RUN --json`.
    """
    from dokimasia import operations
    from dokimasia.runs.reading.exporting import write_whole
    from dokimasia.runs.reading.reporting import format_of

    to_stdout = output == STANDARD_OUTPUT
    if to_stdout and as_json:
        raise click.UsageError("--json prints where the report was written; with -o - it is written nowhere")
    if any(map(is_results_file, runs)):
        from dokimasia.runs.reading.result_files import report_file

        format = name or ("md" if to_stdout else format_of(output))
        path = output or report_file(runs, format)
        _report_files(backend, runs, files, None if to_stdout else path, format, as_json=as_json)
        return
    _refuse_file_options(files)
    run, *others = runs or ("last",)
    if others:
        raise click.UsageError(f"a report is on one run, and {len(runs)} are named; dokimasia board ranks several")
    row = backend.find(run)
    if to_stdout:
        stream(backend.call(operations.results.report, run=row.id, format=name or "md", samples=samples).parts())
        return
    format = name or format_of(output)
    page = backend.call(operations.results.report, run=row.id, format=format, samples=samples)
    shown_count, total = (int(page.headers.get(f"dokimasia-{count}") or 0) for count in ("shown", "samples"))
    path = output or _default_path(backend, f"{row.id}.{format}")
    write_whole(path, page.data)
    if as_json:
        print_json(
            {
                "run": row.id,
                "path": str(path),
                "bytes": len(page.data),
                "shown": shown_count,
                "samples": total,
            }
        )
        return
    if row.status != "done":
        click.echo(f"run {row.id} is {row.status}: the report speaks of what is finished", err=True)
    if shown_count < total:
        click.echo(f"it shows {shown_count} of {several(total, 'sample')}; --samples N shows more", err=True)
    click.echo(path)


def _report_files(
    backend: Backend, names: tuple[str, ...], files: FileOptions, path: Path | None, format: "Format", *, as_json: bool
) -> None:
    """Write a report on result files, to standard output without a path."""
    from dokimasia.runs.reading.exporting import write_whole
    from dokimasia.runs.reading.reporting import render
    from dokimasia.runs.reading.result_files import results_report

    comparison = compare_sources(backend, names, files, alone=True)
    page = redact(render(results_report(comparison), format).decode()).encode()
    if path is None:
        stream([page])
        return
    write_whole(path, page)
    if as_json:
        print_json({"files": [source.file for source in comparison.sources], "path": str(path), "bytes": len(page)})
    else:
        click.echo(path)


def _default_path(backend: Backend, name: str) -> Path:
    """Return the default path of a report: in the home, or in the working folder if the home is a service's."""
    from dokimasia.errors import InputError

    if backend.remote:
        return Path(Path(name).name)
    folder = backend.settings.home / "reports"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}; name a file with -o") from error
    return folder / name


def stream(parts: Iterable[bytes]) -> None:
    """Write bytes to standard output as they arrive."""
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FIRST [SECOND] [MORE]...")
@click.option("--models", help="A,B: compare A of FIRST with B of SECOND (default: all models of the same name).")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="List so many changed samples.")
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of FIRST).")
@format_option
@results_options
@json_option
@with_backend
def diff(
    backend: Backend,
    names: tuple[str, ...],
    models: str | None,
    top: int,
    seed: int | None,
    format: TableFormat,
    files: FileOptions,
    as_json: bool,
) -> None:
    """Compare the runs FIRST and SECOND on the samples that both have: SECOND minus FIRST.

    Samples are paired by their content. Two judges on the same answers: two runs of the same data. Two models of one
    run: dokimasia diff RUN --models A,B, which is B minus A.

    Without --models, FIRST as last is the newest run that can be compared, and SECOND as last the newest of its kind
    beside FIRST; `diff last last` compares the two newest of a kind, the older one first.

    Each may be a file of another harness: a log of Inspect, samples of lmms-eval, a judged file of VLMEvalKit, an output
    of promptfoo, a log of OpenAI Evals, or a table; NAME=FILE names its model. With a file, or with more than two, every two
    models are compared by the ids of items, what failed is counted apart, and no home is needed unless a run is named.
    """
    if as_json and format == "latex":
        raise click.UsageError("--json prints figures, and --format latex tables; leave one of them out")
    pair = two_models(models)
    if any(map(is_results_file, names)) or len(names) > 2:
        from dokimasia.report.results import results_blocks

        compared = compare_sources(backend, names, files, models=pair, top=top, seed=seed)
        if as_json:
            print_json(compared)
        else:
            _print_tables(results_blocks(compared), format)
        return
    if lost := missing_file(names):
        _refuse_missing(backend, lost)
    _refuse_file_options(files)
    first, second, *_ = [*names, *names]
    if len(names) == 1 and pair is None:
        raise click.UsageError("name the run to compare with, or two models of this run with --models A,B")
    _diff_runs(backend, first, second, pair=pair, top=top, seed=seed, format=format, as_json=as_json)


def _refuse_missing(backend: Backend, name: str) -> None:
    """Refuse an argument that is named like a file, unless it is a run.

    Raises:
        NotFound: there is neither such a file nor such a run.
    """
    from dokimasia.errors import DokimasiaError, NotFound

    try:
        backend.find(name)
    except DokimasiaError:
        raise NotFound(f"there is no file {name}, nor a run of that name") from None


def _diff_runs(
    backend: Backend,
    first: str,
    second: str,
    *,
    pair: tuple[str, str] | None,
    top: int,
    seed: int | None,
    format: TableFormat,
    as_json: bool,
) -> None:
    from dokimasia import operations
    from dokimasia.storage.naming import LAST

    def announce(*runs: "Run") -> None:
        resolved = {run.id: run for text, run in zip((first, second), runs, strict=True) if text == LAST}
        for run in resolved.values():
            say(f"last: run {run.id} of {run.created_at[:19].replace('T', ' ')}, {run.command}")

    comparison = backend.call(
        operations.runs.diff,
        runs=f"{first},{second}",
        models=None if pair is None else ",".join(pair),
        top=top,
        seed=seed,
        announce=announce,
    )
    if backend.remote and LAST in (first, second):
        announce(backend.find(comparison.first.run), backend.find(comparison.second.run))
    if as_json:
        print_json(comparison)
    else:
        from dokimasia.report.comparison import comparison_blocks

        _print_tables(comparison_blocks(comparison), format)


def _print_tables(blocks: "Iterable[Block]", format: TableFormat) -> None:
    """Print blocks, or their tables alone as LaTeX."""
    from dokimasia.report.latex import latex_tables

    if format == "latex":
        click.echo(redact(latex_tables(blocks)), nl=False)
    else:
        print_blocks(blocks)


def two_models(models: str | None) -> tuple[str, str] | None:
    """Return the two names of `--models A,B`; None without the option."""
    if models is None:
        return None
    names = [name.strip() for name in models.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError("--models takes two names: A,B")
    return names[0], names[1]


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only runs that have this tag (each of several).")
@click.option(
    "--measure",
    type=click.Choice(["accuracy", "score"]),
    help="What ranks models (default: accuracy, if all runs have reference answers).",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of tests.")
@click.option(
    "--format", type=click.Choice(["text", "csv", "latex"]), default="text", show_default=True, help="Output format."
)
@json_option
@with_backend
def board(
    backend: Backend,
    runs: tuple[str, ...],
    tags: tuple[str, ...],
    measure: str | None,
    seed: int,
    format: str,
    as_json: bool,
) -> None:
    """Rank the models of several RUNs over their data sets.

    Runs that have samples in common are of one data set. Of a model that several of them have, the run with the most
    samples counts, and of equals the newest; figures of the others follow. Without RUN, the board has all finished runs of
    the method that most of them are of.
    """
    from dokimasia import operations
    from dokimasia.report.board import as_csv, as_latex, board_blocks

    if runs and tags:
        raise click.UsageError("name runs, or take those with a --tag, but not both")
    figures = backend.call(
        operations.runs.board, runs=",".join(runs), tag=list(tags) or None, measure=measure, seed=seed
    )
    if as_json:
        print_json(figures)
    elif format == "text":
        print_blocks(board_blocks(figures))
    else:
        click.echo(as_csv(figures) if format == "csv" else as_latex(figures), nl=False)
