"""Shared code of the studies: small models, small data, one training loop."""
