"""Looks inside a network and returns plain data: states, gates, gradients, Jacobians."""
