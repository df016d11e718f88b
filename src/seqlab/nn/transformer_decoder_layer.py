"""torch.nn.TransformerDecoderLayer, with a choice of residual connections, norms, heads, positions and
gates.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.norm import NormKind
from seqlab.nn.attention_positions import PositionsChoice
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.multihead_attention import Device, MultiheadAttention
from seqlab.nn.transformer_layer import ActivationFunction, LayerOptions, ResidualKind, TransformerLayer
from seqlab.nn.unknown_arguments import suggests_arguments


class TransformerDecoderLayer(TransformerLayer, nn.TransformerDecoderLayer):
    """torch.nn.TransformerDecoderLayer: same arguments, inputs, outputs, parameters and initialization.

    Adds the options of TransformerEncoderLayer. num_kv_heads and head_dim apply to both attentions, positions
    only to the self-attention.
    """

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    attentions = ("self_attn", "multihead_attn")
    torch_class = nn.TransformerDecoderLayer

    @suggests_arguments
    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | ActivationFunction = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        attention_dropout: float | None = None,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        positions: PositionsChoice | None = None,
        norm: NormKind = "layer",
        residual: ResidualKind | None = None,
        gated: bool = False,
    ) -> None:
        layer_options = LayerOptions(
            attention_dropout, num_kv_heads, head_dim, positions, norm, residual, gated
        )
        sizes = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )
        super().__init__(*sizes, factory={"device": device, "dtype": dtype}, layer_options=layer_options)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        if (node := as_fx_node(self, tgt, memory, *masks, tgt_is_causal, memory_is_causal)) is not None:
            return node
        steps = self._residual_block(
            1, tgt, lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        )
        steps = self._residual_block(
            2,
            steps,
            lambda x: self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal),
        )
        return self._residual_block(3, steps, self._ff_block)
