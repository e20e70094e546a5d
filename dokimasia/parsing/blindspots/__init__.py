"""What perturbing models, judges that are probed and readers of their justifications reply."""
