"""Files -> rows: tables, lines, folders, series, compressed or not, always streamed."""
