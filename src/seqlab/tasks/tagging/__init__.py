"""One tag for every step of a sequence."""
