"""Weights and equations of a cell in other forms: torch, Keras, textbooks."""
