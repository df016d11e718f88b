"""Any number of labels for every sequence."""
