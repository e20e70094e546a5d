"""Parsers for the judging methods that are compared with human ratings."""
