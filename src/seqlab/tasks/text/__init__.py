"""What tasks on plain text share."""
