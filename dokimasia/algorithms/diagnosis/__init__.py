"""Checks of a diagnosis in words against its tables."""
