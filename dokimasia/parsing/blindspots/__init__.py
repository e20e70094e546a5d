"""Parsers for the replies of perturbing models, probed judges, and readers of their justifications."""
