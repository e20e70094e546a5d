"""Report: tables become charts and pages."""
