"""The decoder half of an encoder-decoder."""
