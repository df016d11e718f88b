"""A recipe becomes a run."""
