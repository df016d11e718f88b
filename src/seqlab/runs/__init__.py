"""Runs: train a recipe into a run folder, and load the folder as a working model."""
