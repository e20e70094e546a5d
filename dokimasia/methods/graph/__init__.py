"""Runs of a graph that a plug-in brings."""
