"""The deterministic rules of the leak check: whether a text states outright what it must not."""
