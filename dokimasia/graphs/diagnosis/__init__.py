"""The graphs of a diagnosis in words and of fingerprints."""
