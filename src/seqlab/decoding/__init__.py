"""From distributions over the next token to sequences of ids."""
