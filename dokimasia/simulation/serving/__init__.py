"""Simulated models in process and behind an HTTP server, with faults on demand."""
