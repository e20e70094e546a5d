"""What is read of failure modes: notes and assignments, sorting and changes."""
