"""Whole networks, put together from blocks."""
