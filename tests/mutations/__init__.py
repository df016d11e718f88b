"""Code that is broken on purpose, to see whether the tests notice."""
