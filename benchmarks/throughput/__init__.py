"""Model calls per second against a stub that answers at once: Dokimasia and its peers on the same messages."""
