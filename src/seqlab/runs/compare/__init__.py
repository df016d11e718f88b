"""Several runs on the same data."""
