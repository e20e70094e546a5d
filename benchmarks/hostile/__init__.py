"""Hostile replies from a loopback server, over every transport side by side."""
