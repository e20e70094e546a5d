"""Texts compared without a model: words, answers, similarity, names."""
