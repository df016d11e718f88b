"""Predict the next token."""
