"""Networks that forecast."""
