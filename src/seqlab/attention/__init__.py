"""Attention over the steps of a sequence."""
