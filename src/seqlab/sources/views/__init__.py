"""Sources made of other sources: filtered, joined, sampled, grouped into sequences."""
