"""Built-in datasets that need no download."""
