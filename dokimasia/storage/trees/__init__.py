"""Capability trees in a home."""
