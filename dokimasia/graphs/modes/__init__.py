"""Failure modes: made from notes on failed atoms, then assigned to atoms."""
