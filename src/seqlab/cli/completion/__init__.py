"""Shell completion: commands and options by typer; settings, names, runs and files from here. No torch."""
