"""Capability trees as networkx graphs: growth, checks, edits, exchange formats, validity, weakness."""
