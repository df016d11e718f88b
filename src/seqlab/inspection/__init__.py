"""Inspection of networks, returned as plain data: states, gates, gradients, Jacobians."""
