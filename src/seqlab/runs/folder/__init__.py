"""The files in a run folder."""
