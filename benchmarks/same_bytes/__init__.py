"""One process beside workers on simulated nodes: the same bytes of every kind of run."""
