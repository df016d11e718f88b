"""A recipe becomes a run folder, a run folder becomes a working model again."""
