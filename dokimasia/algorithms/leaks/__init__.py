"""Whether a feedback or a hint gives a secret away."""
