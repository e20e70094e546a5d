"""Rates of a stored run corrected for its judge: by the judge's passport and a mix of errors, or by labels of people."""

from dokimasia.methods.correction.figures import correct
from dokimasia.methods.correction.measures import CORRECTED
from dokimasia.methods.correction.shape import schema

__all__ = ["CORRECTED", "correct", "schema"]
