"""The browser of samples: which of them are shown, and what was left out."""

from dokimasia.report.blocks import Browser, Section
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section | None:
    """Return the browser; None where no sample is to be shown."""
    if not data.selection.total:
        return None
    return Section("samples", "Samples", (Browser(data.selection.text),))
