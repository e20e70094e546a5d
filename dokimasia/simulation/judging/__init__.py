"""How a simulated judge works: criteria, scores, leaks, rubrics, diagnoses."""
