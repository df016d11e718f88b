"""What is in the data, and what could spoil an honest score."""
