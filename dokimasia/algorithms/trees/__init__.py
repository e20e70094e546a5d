"""Capability trees as networkx graphs: growth, checks, edits, file formats, validity, weaknesses."""
