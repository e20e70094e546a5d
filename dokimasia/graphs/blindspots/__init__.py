"""Graphs on blind spots of judges: answers are made worse, and judges are asked about them."""
