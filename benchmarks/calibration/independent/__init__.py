"""Worlds drawn by numpy alone, so that no mistake of the package is repeated by what checks it."""
