"""The kinds of run that the tests of a run's life go through: those that the benchmarks have, too."""

from benchmarks.kinds import JUDGE, KINDS, MODELS, OTHER, PANEL, Kind, made, make, models_of, write_data

__all__ = ["JUDGE", "KINDS", "MODELS", "OTHER", "PANEL", "Kind", "made", "make", "models_of", "write_data"]
