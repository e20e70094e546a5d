"""Comparison of texts without a model: words, answers, similarity, names."""
