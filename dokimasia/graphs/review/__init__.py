"""The graphs of peer review and of verification by people."""
