"""Parsers for failure modes: notes and assignments, sorting and changes."""
