"""Find problems in the data before training."""
