"""Blind spots in the planted world: errors of known dimensions, planted and found again in texts and in images."""
