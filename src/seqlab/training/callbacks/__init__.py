"""Callbacks: who is told about the progress of training."""
