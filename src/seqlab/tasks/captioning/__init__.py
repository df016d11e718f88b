"""Generate captions for images."""
