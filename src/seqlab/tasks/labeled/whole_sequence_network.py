"""The network of tasks with one answer for a whole sequence."""

from __future__ import annotations

from torch import nn

from seqlab.models.classifier import build_classifier
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec


def build_sequence_network(codec: WholeSequenceCodec, *, is_exclusive: bool) -> nn.Module:
    """is_exclusive: whether an example has exactly one of the outputs, so that they compete."""
    return build_classifier(
        codec.recipe.model,
        embedding=codec.inputs.embedding,
        num_classes=codec.num_outputs,
        num_features=codec.inputs.width,
        is_exclusive=is_exclusive,
        bag=codec.recipe.bag,
    )
