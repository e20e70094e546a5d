"""Passports of judges: made from finished probes, written, read and held against the judges of a run."""
