"""Parsers of judging methods that are compared with people."""
