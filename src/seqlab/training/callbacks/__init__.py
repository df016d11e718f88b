"""Callbacks, which follow the progress of training."""
