"""The roles of table columns: weighted evidence for each role, with a readable reason."""
