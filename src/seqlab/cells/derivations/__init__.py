"""Results derived by hand, beside the code that they explain."""
