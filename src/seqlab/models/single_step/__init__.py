"""An encoder-decoder laid out for decoding one token at a time."""
