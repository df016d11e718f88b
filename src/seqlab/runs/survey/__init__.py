"""Problems of the data, found before training."""
