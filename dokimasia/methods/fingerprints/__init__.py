"""Fingerprints: whether reports without names can be matched to responses (ATOM, H)."""
