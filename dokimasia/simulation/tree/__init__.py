"""The planted tree of capabilities, and the simulated judge that works on it."""
