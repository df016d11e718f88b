"""The outputs of a network for every example of a split."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from seqlab.tasks.labeled.batches import evaluation_batches
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec

Outputs = Float[np.ndarray, "examples outputs"]


@torch.inference_mode()
def outputs_of(model: nn.Module, codec: WholeSequenceCodec, split: LabeledSplit) -> Outputs:
    """In the order of the file."""
    outputs = np.empty((len(split), codec.num_outputs), np.float32)
    device = next(model.parameters()).device
    for batch in evaluation_batches(codec, split):
        outputs[batch.rows.numpy()] = (
            model(batch.inputs.to(device), batch.is_token.to(device)).float().cpu().numpy()
        )
    return outputs
