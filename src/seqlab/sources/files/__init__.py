"""Files as streams of bytes and lines: compressed, archived, in folders."""
