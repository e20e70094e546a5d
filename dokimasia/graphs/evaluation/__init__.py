"""The graphs of an evaluation."""
