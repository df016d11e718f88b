"""Retrain a run from its own recipe and compare the two."""
