"""One file per family of pretrained models."""
