"""Methods, one folder each: the request, its acceptance, the work, the figures and the report."""
