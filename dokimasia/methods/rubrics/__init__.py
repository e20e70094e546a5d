"""Gated rubrics made from golden captions (PerceptionRubrics, 3.3.2)."""
