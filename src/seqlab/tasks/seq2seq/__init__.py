"""Shared parts of tasks that generate a target sequence."""
