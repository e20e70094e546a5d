"""Questions to people who answer instead of models."""
