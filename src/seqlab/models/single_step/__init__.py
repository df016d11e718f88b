"""An encoder-decoder optimized for decoding one token at a time."""
