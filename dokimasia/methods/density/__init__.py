"""The density filter: images that hold enough to be perceived (PerceptionRubrics, 3.2)."""
