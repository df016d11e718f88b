"""Recurrent cells: the equations of one time step, and a fast path for each cell."""
