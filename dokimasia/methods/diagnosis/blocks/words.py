"""A diagnosis in words by itself: each report whole, with what was struck and why."""

from dokimasia.methods.diagnosis.blocks.prose import prose
from dokimasia.report.blocks import Block, Fold, Paragraph, Section, Span
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section:
    """Return the reports on all models, none of them folded away."""
    blocks: list[Block] = [Paragraph(note, "warning") for note in data.summary["notes"]]
    for block in prose(data.summary, {}):
        if isinstance(block, Fold):
            blocks += [Paragraph(Span(f"\n{block.title}", "strong")), *block.blocks]
        else:
            blocks.append(block)
    why = Span(f"dokimasia diagnose {data.summary['source']} --why REFERENCE", "code")
    blocks.append(Paragraph(("What is behind a sentence: ", why, ", such as leaves/NAME:1"), "note"))
    return Section("words", "In words", blocks)
