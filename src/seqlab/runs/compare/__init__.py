"""Compare several runs on the same data."""
