"""Train a run again from its own recipe and compare the two."""
