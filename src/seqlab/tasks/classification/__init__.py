"""One class for every sequence."""
