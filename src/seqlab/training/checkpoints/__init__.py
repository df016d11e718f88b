"""Everything an exact resume needs, on disk."""
