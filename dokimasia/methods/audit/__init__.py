"""Audits: descriptions of images judged by gated rubrics (PerceptionRubrics, 3.4)."""
