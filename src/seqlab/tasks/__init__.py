"""One file per job: binds data, network, loss and scores into one story."""
