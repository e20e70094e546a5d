"""The life-cycle of a run, once for every method: accept, estimate, carry out, interrupt, resume, retry, fork, show."""
