"""A run that starts from another one, or learns from it."""
