"""The file formats of pretrained models."""
