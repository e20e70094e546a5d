"""Rubrics."""
