"""What the columns of a table are for: evidence for each role, weighed, with a reason for people."""
