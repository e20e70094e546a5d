"""The samples of the data file that could not be used, each with the reason."""

from collections.abc import Sequence

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Only, Paragraph, Section
from dokimasia.report.data import ReportData

MOST, MOST_PRINTED = 200, 5


def section(data: ReportData) -> Section | None:
    """Return what was skipped; None where nothing was."""
    skipped: list[str] = data.summary.get("skipped", [])
    if not skipped:
        return None
    blocks: list[Block] = [
        Paragraph(
            (
                figures.count(len(skipped)),
                " samples of the data file could not be used and were left out, as the run was told to; no figure here "
                "counts them.",
            ),
            "warning",
        ),
        Only("page", _listed(data.facts.run, skipped, MOST)),
        Only("terminal", _listed(data.facts.run, skipped, MOST_PRINTED)),
    ]
    return Section("skipped", "Skipped samples", blocks, menu="Skipped")


def _listed(run: str, skipped: Sequence[str], most: int) -> list[Block]:
    left = len(skipped) - most
    more = Paragraph(f"{left:,} more are listed by `dokimasia show {run} --json`.", "note")
    return [Bullets(skipped[:most]), *([more] if left > 0 else [])]
