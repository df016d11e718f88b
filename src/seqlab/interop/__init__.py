"""Weights from elsewhere, in seqlab's own blocks."""
