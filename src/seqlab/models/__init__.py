"""Complete networks, assembled from blocks."""
