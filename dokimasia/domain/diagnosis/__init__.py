"""Diagnosis of a run's models: citable tables, reports, and fingerprint tests."""
