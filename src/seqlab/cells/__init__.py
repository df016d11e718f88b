"""One step of time: every recurrent cell, its equations, and beside them its fast path."""
