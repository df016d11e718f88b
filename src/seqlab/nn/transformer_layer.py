"""The base of encoder and decoder layer: torch's submodules under torch's names, and seqlab's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.norm import NormKind
from seqlab.core.errors import UsageError, nearest
from seqlab.nn.attention_positions import PositionsChoice
from seqlab.nn.multihead_attention import Device, MultiheadAttention
from seqlab.nn.torch_layers import HasTorchLayer, adopt

ActivationFunction = Callable[[Tensor], Tensor]
ResidualKind = Literal["pre", "post", "rezero", "shared_rezero"]
ACTIVATIONS: dict[str, ActivationFunction] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}
NORMS = ("layer", "rms")
RESIDUALS = ("pre", "post", "rezero", "shared_rezero")


class FactoryKwargs(TypedDict):
    device: Device
    dtype: torch.dtype | None


@dataclass(frozen=True)
class LayerOptions:
    """The options that seqlab adds to torch's arguments; with these defaults a layer equals torch's."""

    attention_dropout: float | None = None
    num_kv_heads: int | None = None
    head_dim: int | None = None
    positions: PositionsChoice | None = None
    norm: NormKind = "layer"
    residual: ResidualKind | None = None
    gated: bool = False

    def resolve_residual(self, *, norm_first: bool, where: str) -> ResidualKind:
        """The kind of residual connection, from torch's norm_first or from residual=; if both are set,
        they must agree.
        """
        for name, choice, allowed in (
            ("norm", self.norm, NORMS),
            ("residual", self.residual or "pre", RESIDUALS),
        ):
            if choice not in allowed:
                raise UsageError(
                    f"there is no {name} called '{choice}'.", where=where, cure=nearest(choice, allowed)
                )
        if norm_first and self.residual not in (None, "pre"):
            raise UsageError(
                f"norm_first is True and residual '{self.residual}'.",
                where=where,
                cure="Pass residual= only.",
            )
        return self.residual or ("pre" if norm_first else "post")

    @property
    def matches_torch_layer(self) -> bool:
        """Whether torch's own code can run the layer."""
        return self == LayerOptions(
            attention_dropout=self.attention_dropout, residual=self.residual
        ) and self.residual in (None, "pre", "post")


class GatedActivation(nn.Module):
    """activation(W_g x) ⊙ W x, with one product for both halves.

    Paper: Shazeer 2020, "GLU Variants Improve Transformer", arXiv:2002.05202.
    """

    def __init__(self, activation: ActivationFunction) -> None:
        super().__init__()
        self.activation = activation

    def forward(self, both: Tensor) -> Tensor:
        gate, inner = both.chunk(2, dim=-1)
        return self.activation(gate) * inner


class TransformerLayer(HasTorchLayer):
    """Attentions and a feed-forward network, each with a residual connection; a subclass also inherits from
    torch's own layer.

    torch's blocks (`_sa_block`, `_mha_block`, `_ff_block`) are called where torch calls them, so overriding
    them works.
    """

    attentions: ClassVar[tuple[str, ...]]
    torch_class: ClassVar[type[nn.Module]]
    """torch's layer of the same name."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | ActivationFunction,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        factory: FactoryKwargs,
        layer_options: LayerOptions,
    ) -> None:
        nn.Module.__init__(self)  # torch's constructor would build torch's attention
        where = type(self).__name__
        self.residual = layer_options.resolve_residual(norm_first=norm_first, where=where)
        self.norm_first = self.residual == "pre"
        heads: dict[str, Any] = {
            "bias": bias,
            "batch_first": batch_first,
            "num_kv_heads": layer_options.num_kv_heads,
            "head_dim": layer_options.head_dim,
        }
        attention_dropout = (
            dropout if layer_options.attention_dropout is None else layer_options.attention_dropout
        )
        for name in self.attentions:
            positions = (
                layer_options.positions if name == "self_attn" else None
            )  # distances between source and target positions are meaningless
            setattr(
                self,
                name,
                MultiheadAttention(
                    d_model, nhead, attention_dropout, positions=positions, **heads, **factory
                ),
            )
        self.linear1 = nn.Linear(
            d_model, dim_feedforward * (2 if layer_options.gated else 1), bias=bias, **factory
        )
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias, **factory)
        self._lay_out_paths(d_model, layer_norm_eps, dropout, layer_options.norm, bias=bias, factory=factory)
        activation = _find_activation(activation, where=where)
        self.activation = GatedActivation(activation) if layer_options.gated else activation
        self._matches_torch = layer_options.matches_torch_layer
        self.activation_relu_or_gelu = _torchs_number(activation) if self._matches_torch else 0

    def _lay_out_paths(
        self, size: int, eps: float, dropout: float, norm: NormKind, *, bias: bool, factory: FactoryKwargs
    ) -> None:
        """A norm (or a factor with rezero) and dropout for each sublayer."""
        numbers = range(1, len(self.attentions) + 2)
        if self.residual == "shared_rezero":
            self.scale = nn.Parameter(torch.zeros((), **factory))
        for number in numbers:
            if self.residual == "rezero":
                self.register_parameter(f"scale{number}", nn.Parameter(torch.zeros((), **factory)))
            setattr(self, f"norm{number}", self._norm(norm, size, eps, bias=bias, factory=factory))
        for number in numbers:
            setattr(self, f"dropout{number}", nn.Dropout(dropout))

    def _norm(
        self, kind: NormKind, size: int, eps: float, *, bias: bool, factory: FactoryKwargs
    ) -> nn.Module:
        if self.residual in ("rezero", "shared_rezero"):
            return nn.Identity()
        return build_norm(kind, size, eps, bias=bias, factory=factory)

    def to_torch(self) -> nn.Module:
        if not self._matches_torch:
            raise self.no_counterpart_error("it has options that torch's layer does not support")
        attention, norm = self.self_attn, self.norm1
        assert isinstance(attention, MultiheadAttention)
        assert isinstance(norm, nn.LayerNorm)
        torch_layer = self.torch_class(
            self.linear1.in_features,
            attention.num_heads,
            self.linear1.out_features,
            self.dropout.p,
            self.activation,
            norm.eps,
            attention.batch_first,
            self.norm_first,
            self.linear1.bias is not None,
            device="meta",
        )
        return adopt(torch_layer, self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the activation: torch's decoder layer replaces an activation module by relu when it is
        copied, as its stack does.
        """
        nn.Module.__setstate__(self, state)

    def _residual_block(self, number: int, steps: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """post: norm(x + f(x)).  pre: x + f(norm(x)).  rezero: x + α f(x), with α learned from 0.

        References: `seqlab.blocks.residual`. Dropout is part of f, as in torch's blocks.
        """
        if self.residual == "post":
            return getattr(self, f"norm{number}")(steps + sublayer(steps))
        if self.residual == "pre":
            return steps + sublayer(getattr(self, f"norm{number}")(steps))
        scale = self.scale if self.residual == "shared_rezero" else getattr(self, f"scale{number}")
        return steps + scale * sublayer(steps)


def build_norm(kind: NormKind, size: int, eps: float, *, bias: bool, factory: FactoryKwargs) -> nn.Module:
    """Build torch's norm of this kind; RMSNorm has no bias."""
    if kind == "rms":
        return nn.RMSNorm(size, eps=eps, **factory)
    return nn.LayerNorm(size, eps=eps, bias=bias, **factory)


def _find_activation(activation: str | ActivationFunction, *, where: str) -> ActivationFunction:
    if not isinstance(activation, str):
        return activation
    if activation not in ACTIVATIONS:
        raise UsageError(
            f"there is no activation called '{activation}'.",
            where=where,
            cure=f"{nearest(activation, ACTIVATIONS)} Or pass a function.",
        )
    return ACTIVATIONS[activation]


def _torchs_number(activation: ActivationFunction) -> int:
    """torch's code for the activations with a fast path: 1 relu, 2 gelu, 0 any other."""
    if activation is F.relu or isinstance(activation, nn.ReLU):
        return 1
    return 2 if activation is F.gelu or isinstance(activation, nn.GELU) else 0
