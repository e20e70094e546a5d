"""Mutation testing of the statistics: small faults put into them, and whether their tests notice."""
