"""Describe an image in words."""
