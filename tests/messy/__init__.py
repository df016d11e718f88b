"""Exported files as people have them, each with the truth about it: task, columns, number of usable rows."""
