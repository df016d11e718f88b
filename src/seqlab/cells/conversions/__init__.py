"""Convert the weights and equations of a cell to and from other forms: torch, Keras, textbooks."""
