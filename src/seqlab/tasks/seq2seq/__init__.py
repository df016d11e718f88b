"""What tasks that generate a target sequence share."""
