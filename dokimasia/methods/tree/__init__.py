"""Capability trees: grown, edited, measured (ATOM, 3.4)."""
