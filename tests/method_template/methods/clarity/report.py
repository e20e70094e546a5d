"""The report of a rating of questions: the mean rating, and what it rests on."""

from dokimasia.methods.clarity.figures import ClarityFigures
from dokimasia.report import figures
from dokimasia.report.blocks import Paragraph, Section
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import TableRow
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import column, name_column, table


def section(data: ReportData) -> Section:
    """Return the mean rating."""
    clarity = data.figures_as(ClarityFigures)
    rows = [TableRow("all", clarity, "")]
    note = f"Rated by {clarity.judge}, {clarity.n_rated:,} of {clarity.n:,} questions, {figures.used(clarity)}."
    ratings = table(ClarityFigures, rows, [name_column("questions"), column("clarity")], "Clarity of questions")
    return Section("clarity", "How clearly the questions are put", (ratings, Paragraph(note, "note")))


DRAWING = Drawing("clarity", (section, skipped.section, provenance.section), figures=ClarityFigures)
