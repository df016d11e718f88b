"""The section `model` of a recipe: one file per kind of network."""
