"""Predict the next steps of time series, with bands."""
