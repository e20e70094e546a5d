"""Closed-loop self-correction (ATOM, 3.5)."""
