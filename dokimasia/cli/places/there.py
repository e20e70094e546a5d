"""A service elsewhere, or that holds a home of this machine."""
