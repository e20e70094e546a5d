"""A diagnosis in words checked against its tables."""
