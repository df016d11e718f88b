"""Naive models that every score stands beside."""
