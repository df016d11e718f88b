"""One file per optimizer."""
