"""Forecasts without a network, for many series at once: naive methods, Theta, exponential smoothing, ridge."""
