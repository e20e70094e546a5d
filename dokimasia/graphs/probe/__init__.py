"""Graphs of a probe: judging gold and changed answers, reading justifications, and what some evaluators rest on."""
