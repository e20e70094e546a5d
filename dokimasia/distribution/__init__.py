"""Execution in several processes: Ray workers execute a run's graphs for a driver that owns the home."""
