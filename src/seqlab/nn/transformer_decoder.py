"""torch.nn.TransformerDecoder: a stack of layers that attend to a target and a source."""

from __future__ import annotations

from torch import Tensor, nn

from seqlab.nn.attention_masks import is_causal_mask
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.torch_layers import HasTorchLayer, adopt
from seqlab.nn.transformer_encoder import num_steps

TorchTransformerDecoder = nn.TransformerDecoder
"""torch's original class, captured because a user may replace it in torch.nn with seqlab's."""


class TransformerDecoder(HasTorchLayer, nn.TransformerDecoder):
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
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        if (node := as_fx_node(self, tgt, memory, *masks, tgt_is_causal, memory_is_causal)) is not None:
            return node
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

    def to_torch(self) -> nn.Module:
        torch_stack = TorchTransformerDecoder(self.layers[0], 0, self.norm)
        torch_stack.num_layers = self.num_layers
        return adopt(torch_stack, self)
