"""What every package may use: errors, registries, settings, atomic files, seeds."""
