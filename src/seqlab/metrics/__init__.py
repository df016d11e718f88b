"""How good a model is: plain numbers out, each with its interval."""
