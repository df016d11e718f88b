"""The network of a classifier."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.labeled.whole_sequence_network import build_sequence_network


def build_model(codec: ClassificationCodec) -> nn.Module:
    """A logit for every class."""
    return build_sequence_network(codec, is_exclusive=True)
