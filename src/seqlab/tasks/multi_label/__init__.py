"""Predict any number of labels for every sequence."""
