"""The graphs that make rubrics and judge with them."""
