"""The planted world: scenes whose truth is known, and simulated models and judges whose faults are planted."""
