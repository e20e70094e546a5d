"""`dokimasia diagnose RUN --write`: reports in words, written by a judge, with what was struck shown as struck."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import console, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


def write_reports(
    settings: "Settings", run: str, *, tree: str | None, judge: str | None, seed: int | None, as_json: bool, **more: Any
) -> None:
    """Have a judge write reports on a run, or show those that it wrote, and print them."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.plan import WordsRequest
    from dokimasia.methods.diagnosis.words import write_diagnosis

    if judge is None:
        raise click.UsageError("--write needs --judge M: who writes")
    request = WordsRequest(run=run, judge=judge, tree=tree, seed=seed, **more)
    result = run_to_end(
        lambda observer, stop: write_diagnosis(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_words(result.summary, as_json=as_json)


def show_run(settings: "Settings", run: "Run", *, as_json: bool, sample: str | None = None) -> None:
    """Print the reports of a diagnosis in words."""
    from dokimasia.methods.diagnosis.words import words_summary
    from dokimasia.storage.home import Home

    if sample is not None:
        raise click.UsageError("a diagnosis in words has no samples to show; see dokimasia diagnose RUN --why")
    with Home.open(settings.home, write=False) as home:
        summary = words_summary(home, run)
    print_words(summary, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a diagnosis in words under other limits, and print what it came to."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.words import read_words_plan, resume_words

    asked = read_words_plan(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_words(run, settings=settings, request=asked, observer=observer, stop=stop),
        settings,
    )
    print_words(result.summary, as_json=as_json)


def print_words(summary: Mapping[str, Any], *, as_json: bool) -> None:
    """Print reports: JSON for machines; for people paragraphs, with what was struck crossed out and why."""
    if as_json:
        print_json(summary)
        return
    from rich.markup import escape

    from dokimasia.report.data import SIMULATED_NOTE

    out = console()
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for note in summary["notes"]:
        out.print(f"[red]{escape(note)}[/red]", soft_wrap=True)
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    totals = summary["totals"]
    out.print(
        f"diagnosis {summary['run']} of run {summary['source']} · written by {escape(summary['judge'])}{state} · "
        f"{totals['kept']} of {totals['sentences']} sentences stand, {totals['struck']} are struck "
        f"({totals['struck_at_first']} before they were sent back)"
    )
    for report in summary["reports"]:
        out.print(f"\n[bold]{escape(report['subject'] or 'Across the models')}[/bold]")
        if report["failed"]:
            out.print(f"[red]no report: {report['failed']['kind']}: {escape(report['failed']['reason'] or '')}[/red]")
        if report["cut"]:
            out.print(f"[red]cut: the reply had {report['words']:,} words[/red]")
        _print_sentences(out, report["sentences"])
    out.print(
        f"\n[dim]What is behind a sentence: dokimasia diagnose {summary['source']} --why REFERENCE, such as "
        "leaves/NAME:1[/dim]"
    )


def _print_sentences(out: Any, sentences: list[dict[str, Any]]) -> None:
    from rich.markup import escape

    from dokimasia.cli.shared import redact

    paragraphs: dict[int, list[str]] = {}
    for one in sentences:
        text = escape(redact(one["text"]))
        if one["struck"]:
            kind = one["struck"]["kind"].replace("_", " ")
            text = f"[red][strike]{text}[/strike] ({kind}: {escape(redact(one['struck']['reason']))})[/red]"
        elif one["heading"]:
            text = f"[bold]{text}[/bold]"
        paragraphs.setdefault(one["paragraph"], []).append(text)
    for number, lines in enumerate(paragraphs.values()):
        if number:
            out.print()
        out.print("\n".join(lines))
