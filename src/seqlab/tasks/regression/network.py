"""The network that predicts a number."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.labeled.whole_sequence_network import build_sequence_network
from seqlab.tasks.regression.codec import RegressionCodec


def build_model(codec: RegressionCodec) -> nn.Module:
    """One output, the standardized number."""
    return build_sequence_network(codec, is_exclusive=False)
