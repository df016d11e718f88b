"""The network for several labels."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.labeled.whole_sequence_network import build_sequence_network
from seqlab.tasks.multi_label.codec import MultiLabelCodec


def build_model(codec: MultiLabelCodec) -> nn.Module:
    """A logit for every label, each with a sigmoid of its own."""
    return build_sequence_network(codec, is_exclusive=False)
