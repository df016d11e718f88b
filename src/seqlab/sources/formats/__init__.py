"""One file per format: bytes -> rows."""
