"""A number for every sequence."""
