"""Predict masked tokens from the context on both sides."""
