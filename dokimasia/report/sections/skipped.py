"""The samples of the data file that could not be used, each with the reason."""

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Paragraph, Section
from dokimasia.report.data import ReportData

MOST = 200


def section(data: ReportData) -> Section | None:
    """Return what was skipped; None where nothing was."""
    skipped: list[str] = data.summary["skipped"]
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
        Bullets(skipped[:MOST]),
    ]
    if len(skipped) > MOST:
        blocks.append(
            Paragraph(f"{len(skipped) - MOST} more are listed by `dokimasia show {data.facts.run} --json`.", "note")
        )
    return Section("skipped", "Skipped samples", blocks, menu="Skipped")
