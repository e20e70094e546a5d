"""The deterministic rules of the leak check: whether a text openly states a secret."""
