"""Networks that read a window of a series and predict the steps after it."""
