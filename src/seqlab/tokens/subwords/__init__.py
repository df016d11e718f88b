"""Tokenizers that split words into pieces."""
