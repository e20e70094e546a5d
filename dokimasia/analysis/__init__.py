"""Analysis: stored rows become tables."""
