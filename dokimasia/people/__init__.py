"""Evidence on judges from people and probes: checks of results, annotations, passports, and corrected rates."""
