"""What the data contains, and what could invalidate a score."""
