"""Frozen value types and the protocols between rooms; no I/O, and no imports from other rooms."""
