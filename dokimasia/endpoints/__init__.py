"""Models as endpoints: configured models and their measured capabilities."""
