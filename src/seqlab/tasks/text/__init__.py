"""Shared parts of tasks on plain text."""
