"""Counters of the source code: size, density, typing, names, imports, and the frames of a model call."""
