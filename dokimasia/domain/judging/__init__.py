"""Judgements of responses by people and judging methods."""
