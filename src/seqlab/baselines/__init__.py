"""Simple models that every score is compared with."""
