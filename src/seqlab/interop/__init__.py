"""Import and export of pretrained weights."""
