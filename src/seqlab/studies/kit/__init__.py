"""What the studies share: small models, small data, one training loop."""
