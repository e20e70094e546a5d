"""What people check: golden captions and rubrics, accepted, edited or rejected."""
