"""Evaluation by atomic criteria: cognitive replay, answers, checkpoint scores (ATOM, 3.2 and 3.3)."""
