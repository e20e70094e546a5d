"""A grown tree read: its versions and files, a run's scores on it, where a model is weak, and what the tree is worth."""
