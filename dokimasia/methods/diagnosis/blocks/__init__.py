"""How a diagnosis is drawn: its tables on the page of the evaluation, its words as a run of their own."""

from dokimasia.methods.diagnosis.blocks import words
from dokimasia.report.data import Drawing
from dokimasia.report.sections import provenance

DRAWING = Drawing("diagnosis in words", (words.section, provenance.section))
