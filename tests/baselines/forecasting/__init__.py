"""Forecasts without a network."""
