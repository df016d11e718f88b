"""Shared parts of tasks with labeled sequences."""
