"""What pages and reports read of a run, whatever its size."""
