"""Pure functions over numbers, texts and graphs, with explicit seeds: all that can be tested without a model."""
