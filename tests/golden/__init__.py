"""Short training runs whose numbers are written down: a refactor must reproduce them."""
