"""Correction of a run's rates for its judge's errors: by a passport and a mix of errors, or by people's labels."""

from dokimasia.people.correction.figures import correct, is_correctable
from dokimasia.people.correction.shape import schema

__all__ = ["correct", "is_correctable", "schema"]
