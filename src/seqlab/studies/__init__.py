"""Studies: small experiments that reproduce well-known claims, one file per claim."""
