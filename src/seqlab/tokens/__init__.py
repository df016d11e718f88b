"""Text <-> ids, numbers -> steps: every stage callable and invertible by itself."""
