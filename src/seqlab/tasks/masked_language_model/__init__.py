"""Predict masked tokens from both sides."""
