"""One file per claim of the field, rerun as an experiment."""
