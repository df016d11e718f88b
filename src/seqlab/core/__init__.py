"""What every room may use: errors, registries, settings, whole files, seeds."""
