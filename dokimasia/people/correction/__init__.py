"""Rates of a stored run corrected for its judge: by the judge's passport and a mix of errors, or by labels of people."""

from dokimasia.people.correction.figures import correct, is_correctable
from dokimasia.people.correction.shape import schema

__all__ = ["correct", "is_correctable", "schema"]
