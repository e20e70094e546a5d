"""The graph that rates criteria."""
