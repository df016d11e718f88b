"""Decoding: from distributions over the next token to sequences of token ids."""
