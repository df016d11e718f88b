"""Train a recipe into a run."""
