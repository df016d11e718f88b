"""Classify sequences."""
