"""Who may ask what of the service, how much of it, and from where."""
