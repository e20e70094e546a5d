"""Data that could not be used (lines, samples and answers), with reasons."""

from collections.abc import Sequence

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Only, Paragraph, Section
from dokimasia.report.data import ReportData

MOST, MOST_PRINTED = 200, 5


def section(data: ReportData) -> Section | None:
    """Return the section of skipped data; None if nothing was skipped."""
    skipped = data.common.skipped
    if not skipped:
        return None
    blocks: list[Block] = [
        Paragraph(
            (
                figures.count(len(skipped)),
                f" {'entry' if len(skipped) == 1 else 'entries'} of the data (samples or answers) could not be used and "
                f"{'was' if len(skipped) == 1 else 'were'} left out, as the run was told to; no figure here counts them.",
            ),
            "warning",
        ),
        Only("page", _listed(data.facts.run, skipped, MOST)),
        Only("terminal", _listed(data.facts.run, skipped, MOST_PRINTED)),
    ]
    return Section("skipped", "Skipped data", blocks, menu="Skipped")


def _listed(run: str, skipped: Sequence[str], most: int) -> list[Block]:
    n_more = len(skipped) - most
    note = Paragraph(f"{n_more:,} more are listed by `dokimasia show {run} --json`.", "note")
    return [Bullets(skipped[:most]), *([note] if n_more > 0 else [])]
