"""Who looks at whom: attention over the steps of a sequence."""
