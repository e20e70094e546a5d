"""Runs killed at random moments, also half-way through a write, resumed and killed again, against one never killed."""
