"""Circular peer review: a panel agrees on a description of each image (PerceptionRubrics, 3.3.1)."""
