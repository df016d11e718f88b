"""Backpropagation through time written out by hand, one file per cell family."""
