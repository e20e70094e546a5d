"""The browser of samples: which of them are shown, and what was left out."""

from dokimasia.report.blocks import Browser, Section
from dokimasia.report.data import ReportData, Selection


def section(data: ReportData) -> Section | None:
    """Return the browser; None where no sample is to be shown."""
    if not data.selection.total:
        return None
    return Section("samples", "Samples", (Browser(selection_text(data.selection)),))


def selection_text(chosen: Selection) -> str:
    """Return what of the run's samples is shown and what was left out, in a sentence or two."""
    if chosen.shown == chosen.total:
        failing = f", the {chosen.failed} with a failure first" if chosen.failed else ""
        return f"All {chosen.total} samples{failing}."
    parts = []
    if chosen.failed:
        which = (
            "all" if chosen.failed_shown == chosen.failed else f"{chosen.failed_shown}, drawn by seed {chosen.seed},"
        )
        parts.append(f"{which} of the {chosen.failed} samples with a failure")
    if chosen.failed and chosen.others_shown:
        parts.append(f"{chosen.others_shown} of the other {chosen.others}, drawn by seed {chosen.seed}")
    left = chosen.total - chosen.shown
    how = f": {' and '.join(parts)}" if parts else f", drawn by seed {chosen.seed}"
    shown = f"{chosen.shown} of {chosen.total} samples{how}"
    return f"{shown}. {left} {'is' if left == 1 else 'are'} left out here; every figure above counts all of them."
