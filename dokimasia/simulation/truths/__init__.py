"""The truth that estimates are compared with, from the planted parameters alone."""
