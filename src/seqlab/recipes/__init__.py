"""Ready-made recipes, shipped with the package."""
