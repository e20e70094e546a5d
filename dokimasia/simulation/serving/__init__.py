"""Simulated models at work: in process, and behind an HTTP server, with faults to order."""
