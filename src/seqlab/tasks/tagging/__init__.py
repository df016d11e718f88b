"""Predict a tag for every step of a sequence."""
