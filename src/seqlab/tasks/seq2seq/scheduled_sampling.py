"""Scheduled sampling: what a decoder reads while it learns, partly the truth and partly what it wrote
itself.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from seqlab.models.encoder_decoder import EncoderDecoder


@torch.no_grad()
def with_own_outputs(
    model: EncoderDecoder,
    source: Shaped[Tensor, "batch source *features"],
    source_is_token: Bool[Tensor, "batch source"],
    targets: Int[Tensor, "batch time"],
    *,
    truth: float,
    each: Literal["sequence", "token"],
) -> Int[Tensor, "batch time"]:
    """The decoder's inputs: the start token, then at each step the true token or the likeliest one after what
    was read so far.

    truth: the probability of the true one, drawn for a whole sequence or for each token. No gradient goes
    through the choice, so the inputs can be made first, step by step, and then read at once, by a recurrent
    decoder and by a Transformer alike. The network writes without dropout, as it will when it is used. Paper:
    Bengio et al. 2015, arXiv:1506.03099, section 2.4 (a token each); per sequence: the lecture's form.
    """
    batch, time = targets.shape
    drawn = torch.rand(batch, 1 if each == "sequence" else time, device=targets.device)
    is_own = (drawn >= truth).expand(batch, time)
    if not bool(is_own.any()):
        return targets
    was_training = model.training
    model.eval()
    inputs = targets.clone()
    decoder_state = model.encode(source, source_is_token)
    every = torch.ones(batch, 1, dtype=torch.bool, device=targets.device)
    for step in range(time - 1):
        logits, decoder_state = model.decode(inputs[:, step : step + 1], every, decoder_state)
        inputs[:, step + 1] = torch.where(
            is_own[:, step + 1], logits[:, -1].argmax(dim=-1), targets[:, step + 1]
        )
    model.train(was_training)
    return inputs
