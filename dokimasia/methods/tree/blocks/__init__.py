"""How a growth is drawn, and what its tree adds to the page of an evaluation."""

from dokimasia.methods.tree.blocks import growth
from dokimasia.report.data import Drawing
from dokimasia.report.sections import provenance

DRAWING = Drawing("growth of a tree", (growth.section, provenance.section), counts=("criterion", "criteria"))
