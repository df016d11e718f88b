"""Evaluation metrics as plain numbers, each with a confidence interval."""
