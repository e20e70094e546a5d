"""The graphs of self-correction."""
