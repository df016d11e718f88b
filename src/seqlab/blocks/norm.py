"""Normalization of the features of each step: LayerNorm and RMSNorm."""

from __future__ import annotations

from typing import Literal

from torch import nn

NormKind = Literal["layer", "rms"]


def build_norm(kind: NormKind, size: int, *, eps: float) -> nn.Module:
    """Build a normalization layer.

        layer   g ⊙ (x - mean) / √(variance + eps) + b
        rms     g ⊙ x / √(mean of x² + eps)

    Papers: Ba et al. 2016, "Layer Normalization", arXiv:1607.06450; Zhang & Sennrich 2019, "Root Mean Square
    Layer Normalization", arXiv:1910.07467.
    """
    return nn.LayerNorm(size, eps=eps) if kind == "layer" else nn.RMSNorm(size, eps=eps)
