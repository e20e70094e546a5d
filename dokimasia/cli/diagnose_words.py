"""`dokimasia diagnose RUN --write`: reports in words, written by a judge, with every figure printed by the program."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import console, print_json

if TYPE_CHECKING:
    from dokimasia.report.blocks import Block
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
    """Print reports: JSON for machines; for people paragraphs, with what the program printed set off."""
    if as_json:
        print_json(summary)
        return
    from rich.markup import escape

    from dokimasia.report.data import SIMULATED_NOTE
    from dokimasia.report.diagnosis_prose import prose

    out = console()
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for note in summary["notes"]:
        out.print(f"[red]{escape(note)}[/red]", soft_wrap=True)
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    totals = summary["totals"]
    out.print(
        f"diagnosis {summary['run']} of run {summary['source']} · written by {escape(summary['judge'])}{state} · "
        f"{totals['verified']} of {totals['sentences']} sentences verified, {totals['unverified']} not "
        f"({totals['unverified_at_first']} before they were sent back)"
    )
    _draw(out, prose(summary, {}))
    out.print(
        f"\n[dim]What is behind a figure: dokimasia diagnose {summary['source']} --why ROW, such as leaves/NAME:1[/dim]"
    )


def _draw(out: Any, blocks: "Iterable[Block]") -> None:
    """Print paragraphs and folds of a report; what the program printed in cyan, reasons in red."""
    from rich.text import Text

    from dokimasia.cli.shared import redact
    from dokimasia.report.blocks import Fold, Paragraph, Span, spans

    styles = {"cited": "cyan", "bad": "red", "strong": "bold"}
    for block in blocks:
        out.print()
        if isinstance(block, Fold):
            out.print(Text(redact(block.title), style="bold"))
            _draw(out, block.blocks)
        elif isinstance(block, Paragraph):
            text = Text(style={"note": "dim", "warning": "red"}.get(block.kind, ""))
            for piece in spans(block.text):
                style = styles.get(piece.tone, "") if isinstance(piece, Span) else ""
                text.append(redact(piece.text if isinstance(piece, Span) else piece), style=style)
            out.print(text)
