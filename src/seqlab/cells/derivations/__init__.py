"""Results derived by hand, next to the code that they explain."""
