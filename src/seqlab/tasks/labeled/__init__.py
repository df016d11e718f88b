"""What tasks with labeled sequences share."""
