"""A home's database, ledger, blobs and checkpoints, and the same ports in memory."""
