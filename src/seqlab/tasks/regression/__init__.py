"""Predict a number for every sequence."""
