"""Texts compared without a model: words, answers, likeness, names."""
