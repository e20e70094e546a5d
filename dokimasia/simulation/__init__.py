"""The planted world: scenes with known truth, and simulated models and judges with planted faults."""
