"""The graph of the density filter."""
