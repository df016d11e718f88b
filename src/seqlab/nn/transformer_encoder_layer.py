"""torch.nn.TransformerEncoderLayer, with a choice of residual connections, norms, heads, positions and
gates.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.norm import NormKind
from seqlab.core.errors import UsageError
from seqlab.nn.attention_positions import PositionsChoice
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.multihead_attention import Device, MultiheadAttention
from seqlab.nn.transformer_layer import ActivationFunction, LayerOptions, ResidualKind, TransformerLayer
from seqlab.nn.unknown_arguments import suggests_arguments


class TransformerEncoderLayer(TransformerLayer, nn.TransformerEncoderLayer):
    """torch.nn.TransformerEncoderLayer: same arguments, inputs, outputs, parameters and initialization.

    attention_dropout: dropout on the attention weights, by default `dropout` as in torch. Set 0 to enable
        the flash kernel.
    num_kv_heads, head_dim, positions: of the attention, as in MultiheadAttention.
    residual: "post" (torch's default), "pre" (torch's norm_first), "rezero" or "shared_rezero" (no norm, but
        a learned factor for each sublayer or for the layer).
    norm: "layer" (torch's) or "rms".
    gated: a gate in the feed-forward network; with activation="silu" this is SwiGLU.

    >>> layer = TransformerEncoderLayer(6, 2, 7, batch_first=True, norm="rms", residual="pre", activation="silu", gated=True)
    >>> layer(torch.randn(3, 5, 6)).shape
    torch.Size([3, 5, 6])
    """

    self_attn: MultiheadAttention
    attentions = ("self_attn",)
    torch_class = nn.TransformerEncoderLayer

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
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        if (node := as_fx_node(self, src, src_mask, src_key_padding_mask, is_causal)) is not None:
            return node
        if src.is_nested:
            return self._of_nested(src, src_mask, src_key_padding_mask, is_causal=is_causal)
        steps = self._residual_block(
            1, src, lambda x: self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal)
        )
        return self._residual_block(2, steps, self._ff_block)

    def _of_nested(
        self, src: Tensor, mask: Tensor | None, padding: Tensor | None, *, is_causal: bool
    ) -> Tensor:
        """torch's own stack passes nested tensors in evaluation, which torch's own code handles."""
        if not self.activation_relu_or_gelu:
            raise UsageError(
                "a nested tensor, which only torch's own layer supports.",
                where=type(self).__name__,
                cure="Pad it and mask the padding.",
            )
        return super().forward(src, mask, padding, is_causal)
