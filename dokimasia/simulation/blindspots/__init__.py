"""Answers of the planted world in which errors of every dimension can be planted, and found again."""

from dokimasia.simulation.blindspots.gold import gold_answer
from dokimasia.simulation.blindspots.texts import Fault, Planted, faults, plant

__all__ = ["Fault", "Planted", "faults", "gold_answer", "plant"]
