"""How a refinement is drawn."""

from dokimasia.methods.refinement.blocks import refinement, samples
from dokimasia.report.data import Drawing
from dokimasia.report.sections import provenance

DRAWING = Drawing(
    "refinement",
    (refinement.section, samples.section, provenance.section),
    sample=lambda views, cut: samples.sample(views[0], {}),
    asks=True,
)
