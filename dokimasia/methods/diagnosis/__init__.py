"""Diagnosis: tables of where models are weak and why, and reports in words (ATOM, 3.4 and H)."""
