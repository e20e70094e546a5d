"""Queries of pages and reports that scale with the page, not the run."""
