"""torch.nn.TransformerDecoder: a stack of layers that attend to a target and a source."""

from __future__ import annotations

from torch import Tensor, nn

from seqlab.nn.attention_masks import is_causal_mask
from seqlab.nn.transformer_encoder import num_steps


class TransformerDecoder(nn.TransformerDecoder):
    """torch.nn.TransformerDecoder: same arguments, inputs, outputs and parameters.

    Layers may come from torch, from seqlab or from your own code.
    """

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        causal = is_causal_mask(tgt_mask, tgt_is_causal, num_steps(tgt, self.layers))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)
