"""Parsers for the growth of a capability tree: proposals, placements and merges."""
