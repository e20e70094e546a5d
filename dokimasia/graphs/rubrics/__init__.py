"""The graphs that make rubrics and judge by them."""
