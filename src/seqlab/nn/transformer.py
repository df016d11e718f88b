"""torch.nn.Transformer: an encoder and a decoder."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.norm import NormKind
from seqlab.nn.attention_positions import PositionsChoice
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.multihead_attention import Device
from seqlab.nn.torch_layers import HasTorchLayer, adopt
from seqlab.nn.transformer_decoder import TransformerDecoder
from seqlab.nn.transformer_decoder_layer import TransformerDecoderLayer
from seqlab.nn.transformer_encoder import TransformerEncoder
from seqlab.nn.transformer_encoder_layer import TransformerEncoderLayer
from seqlab.nn.transformer_layer import (
    ActivationFunction,
    FactoryKwargs,
    LayerOptions,
    ResidualKind,
    build_norm,
)
from seqlab.nn.unknown_arguments import suggests_arguments

TorchTransformer = nn.Transformer
"""torch's original class, captured because a user may replace it in torch.nn with seqlab's."""


class Transformer(HasTorchLayer, nn.Transformer):
    """torch.nn.Transformer: same arguments, inputs, outputs, parameters and initialization.

    Adds the options of TransformerEncoderLayer, for every layer. Encoder and decoder always end with a norm
    of the kind `norm`, as in torch.

    >>> model = Transformer(6, 2, 1, 1, 7, batch_first=True, residual="rezero")
    >>> model(torch.randn(3, 5, 6), torch.randn(3, 4, 6), tgt_is_causal=True).shape
    torch.Size([3, 4, 6])
    """

    @suggests_arguments
    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | ActivationFunction = F.relu,
        custom_encoder: nn.Module | None = None,
        custom_decoder: nn.Module | None = None,
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
        nn.Module.__init__(self)  # torch's constructor would build torch's layers
        options = vars(
            LayerOptions(attention_dropout, num_kv_heads, head_dim, positions, norm, residual, gated)
        )
        arguments: tuple[Any, ...] = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        arguments += (batch_first, norm_first, bias, device, dtype)
        factory: FactoryKwargs = {"device": device, "dtype": dtype}
        final_norm = partial(build_norm, norm, d_model, layer_norm_eps, bias=bias, factory=factory)
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*arguments, **options)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, final_norm())
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*arguments, **options)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, final_norm())
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        masks = (src_mask, tgt_mask, memory_mask)
        paddings = (src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask)
        hints = (src_is_causal, tgt_is_causal, memory_is_causal)
        node = as_fx_node(self, src, tgt, *masks, *paddings, *hints)
        return super().forward(src, tgt, *masks, *paddings, *hints) if node is None else node

    def to_torch(self) -> nn.Module:
        model = TorchTransformer.__new__(TorchTransformer)
        nn.Module.__init__(model)  # torch's constructor would initialize the parameters anew
        model.d_model, model.nhead, model.batch_first = self.d_model, self.nhead, self.batch_first
        return adopt(model, self)
