"""The layouts of the seven domains: how each sort of scene is composed and painted."""

from dokimasia.simulation.scene import Domain
from dokimasia.simulation.scenes import creative, data, document, interface, logic, natural, stem
from dokimasia.simulation.scenes.layout import Layout

LAYOUTS: dict[Domain, tuple[Layout, ...]] = {
    "natural": natural.LAYOUTS,
    "document": document.LAYOUTS,
    "interface": interface.LAYOUTS,
    "data": data.LAYOUTS,
    "stem": stem.LAYOUTS,
    "logic": logic.LAYOUTS,
    "creative": creative.LAYOUTS,
}
"""Every domain's layouts, in a fixed order."""
