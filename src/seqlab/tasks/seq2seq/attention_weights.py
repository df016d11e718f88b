"""Cross-attention over a source while a given target is generated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.decoding.ensemble import Ensemble
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.seq2seq.codec import SourceSteps

MAX_MAPS, MAX_MAP_TOKENS = 4, 40
"""Attention maps of a report, and the tokens along a side that are still readable there."""


@torch.inference_mode()
def cross_attention(
    model: EncoderDecoder | Ensemble, source: SourceSteps, decoder_inputs: Sequence[int]
) -> Float[Tensor, "target positions"] | None:
    """The attention over the encoded source after each decoder input; None where the decoder has no
    attention. Its positions are the tokens of a text, or the regions of an image.

    decoder_inputs: the start token and the tokens of the target; its last token too where the attention of
    the end is wanted.
    """
    steps = source.unsqueeze(0).to(next(model.parameters()).device)
    inputs = torch.tensor([list(decoder_inputs)], device=steps.device)
    decoder_state = model.encode(steps, torch.ones(steps.shape[:2], dtype=torch.bool, device=steps.device))
    _, _, alignment = model.decode_with_alignment(
        inputs, torch.ones_like(inputs, dtype=torch.bool), decoder_state
    )
    return None if alignment is None else alignment[0]
