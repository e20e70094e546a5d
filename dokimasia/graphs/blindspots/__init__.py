"""Perturbing answers, and probing judges with them (FOCUS)."""
