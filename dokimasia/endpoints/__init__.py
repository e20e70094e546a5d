"""Models as endpoints: which are configured, and what each was measured to be able to do."""
