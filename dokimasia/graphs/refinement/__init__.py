"""Refinement."""
