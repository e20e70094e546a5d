"""What people and judging methods say of responses."""
