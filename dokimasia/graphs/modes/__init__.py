"""The graphs that derive failure modes from notes on failed atoms, and assign modes to atoms."""
