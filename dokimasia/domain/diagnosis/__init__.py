"""What a run says of its models: tables that can be cited, reports on them, and what they were matched to."""
