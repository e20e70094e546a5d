"""Pure functions over numbers, texts and graphs, with explicit seeds: everything that can be tested without a model."""
