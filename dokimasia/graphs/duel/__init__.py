"""Graphs of duels."""
