"""Steps -> tensors: stores on disk, padding, length buckets, windows over a stream."""
