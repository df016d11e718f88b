"""Train a PyTorch model of the user's own: its arguments and its folder."""
