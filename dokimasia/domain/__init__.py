"""The domain: frozen types and the protocols between the rooms; no I/O, and nothing else of ours is imported."""
