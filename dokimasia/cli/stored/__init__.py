"""Verbs on stored runs: resume, fork, list, show, compare, export, report, verify."""
