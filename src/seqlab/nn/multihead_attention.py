"""torch.nn.MultiheadAttention with grouped-query heads, any head size, and positional encodings."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from seqlab.attention.heads import attend_heads, attend_with_weights, compute_alignment
from seqlab.attention.masks import AttentionMask
from seqlab.attention.recording import Alignment, RecordableAttention
from seqlab.core.errors import UsageError
from seqlab.nn.attention_inputs import InputLayout, check_inputs
from seqlab.nn.attention_masks import attention_mask_from_torch
from seqlab.nn.attention_positions import PositionsChoice, choose_positions
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.torch_layers import HasTorchLayer, adopt
from seqlab.nn.unknown_arguments import suggests_arguments

Device = torch.device | str | int | None
Heads = Float[Tensor, "batch heads target head"]
KeyHeads = Float[Tensor, "batch kv_heads source head"]


TorchMultiheadAttention = nn.MultiheadAttention
"""torch's original class, captured because a user may replace it in torch.nn with seqlab's."""


class MultiheadAttention(RecordableAttention, HasTorchLayer, nn.MultiheadAttention):
    """torch.nn.MultiheadAttention: same arguments, inputs, outputs, parameters and initialization.

        output, weights = MultiheadAttention(embed_dim, num_heads)(query, key, value, key_padding_mask=..., attn_mask=...)

    With need_weights=False the flash kernel runs. A query that may attend to nothing gets zeros (torch: NaN
    with need_weights). is_causal needs no additional mask. `record_alignments` records the weights, too.

    num_kv_heads: number of key and value heads, each shared by a group of query heads. head_dim: width of a
    head; embed_dim then need not be divisible by num_heads. positions: "rotary", "alibi" or another encoding
    applied inside attention; positions of queries and keys both start at 0.

    >>> attention = MultiheadAttention(6, 2, batch_first=True)
    >>> output, weights = attention(*[torch.randn(3, 5, 6)] * 3)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 6]), torch.Size([3, 5, 5]))
    """

    @suggests_arguments
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        positions: PositionsChoice | None = None,
    ) -> None:
        nn.Module.__init__(self)  # torch's constructor supports only one head width
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = (
            embed_dim,
            num_heads,
            dropout,
            batch_first,
        )
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self._check_counts(head_dim)
        self.head_dim = embed_dim // num_heads if head_dim is None else head_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.add_zero_attn = add_zero_attn
        self._lay_out(bias=bias, add_bias_kv=add_bias_kv, device=device, dtype=dtype)
        self._reset_parameters()
        self.positions = None
        if positions is not None:
            sizes = {"hidden_size": embed_dim, "num_heads": num_heads, "head_size": self.head_dim}
            self.positions = choose_positions(positions, **sizes, where=type(self).__name__).to(
                device=device, dtype=dtype
            )

    def _check_counts(self, head_dim: int | None) -> None:
        where = type(self).__name__
        counts = {
            "embed_dim": self.embed_dim,
            "num_heads": self.num_heads,
            "num_kv_heads": self.num_kv_heads,
            "head_dim": head_dim,
        }
        for name, count in counts.items():
            if count is not None and count < 1:
                raise UsageError(f"{name} is {count}.", where=where, cure="Use an integer of at least 1.")
        if head_dim is None and self.embed_dim % self.num_heads:
            fitting = [heads for heads in _divisors(self.embed_dim) if heads <= 2 * self.num_heads]
            raise UsageError(
                f"embed_dim must be divisible by num_heads; {self.embed_dim} is not divisible by"
                f" {self.num_heads}.",
                where=where,
                cure=(
                    f"Valid numbers of heads: {', '.join(map(str, fitting))}. For heads of any size, set"
                    " head_dim=NUMBER."
                ),
            )
        if self.num_heads % self.num_kv_heads:
            raise UsageError(
                f"{self.num_heads} heads cannot be divided evenly among {self.num_kv_heads} key-value heads.",
                where=where,
                cure=f"Valid values of num_kv_heads: {', '.join(map(str, _divisors(self.num_heads)))}.",
            )

    def _lay_out(self, *, bias: bool, add_bias_kv: bool, device: Device, dtype: torch.dtype | None) -> None:
        """Register torch's parameters under torch's names, in torch's order."""

        def add(name: str, *shape: int, present: bool) -> None:
            self.register_parameter(
                name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)) if present else None
            )

        q, k, v = self._widths
        packed = self._qkv_same_embed_dim
        add("q_proj_weight", q, self.embed_dim, present=not packed)
        add("k_proj_weight", k, self.kdim, present=not packed)
        add("v_proj_weight", v, self.vdim, present=not packed)
        add("in_proj_weight", q + k + v, self.embed_dim, present=packed)
        add("in_proj_bias", q + k + v, present=bias)
        self.out_proj = NonDynamicallyQuantizableLinear(
            q, self.embed_dim, bias=bias, device=device, dtype=dtype
        )
        add("bias_k", 1, 1, k, present=add_bias_kv)
        add("bias_v", 1, 1, v, present=add_bias_kv)

    @property
    def _widths(self) -> tuple[int, int, int]:
        """Total widths of the queries, keys and values of a step."""
        return (
            self.num_heads * self.head_dim,
            self.num_kv_heads * self.head_dim,
            self.num_kv_heads * self.head_dim,
        )

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights), as torch.nn.MultiheadAttention returns them."""
        masks = (key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
        if (node := as_fx_node(self, query, key, value, *masks)) is not None:
            return node
        if query.is_nested:
            self._check_nested()
            return super().forward(query, key, value, *masks)
        where = type(self).__name__
        layout = InputLayout.from_query(query, batch_first=self.batch_first, where=where)
        check_inputs(
            query, key, value, layout=layout, widths=(self.embed_dim, self.kdim, self.vdim), where=where
        )
        (batch, target), source = layout.sizes(query), layout.sizes(key)[1]
        q, k, v = self._project(query, key, value, layout)
        q, k, bias = self._placed(q, k)
        k, v = self._extended(k, v)
        mask = attention_mask_from_torch(
            (
                key_padding_mask
                if key_padding_mask is None or layout.is_batched
                else key_padding_mask.unsqueeze(0)
            ),
            attn_mask,
            is_causal=is_causal,
            may_ignore_mask=not need_weights,
            sizes=(batch, self.num_heads, target, source),
            num_extra=k.shape[2] - source,
            bias=bias,
            like=q,
            where=where,
        )
        mixed, weights = self._attend(q, k, v, mask, need_weights=need_weights)
        output = self.out_proj(layout.join(mixed))
        if weights is None:
            return output, None
        alignment = weights.mean(dim=1) if average_attn_weights else weights
        return output, alignment if layout.is_batched else alignment.squeeze(0)

    def _check_nested(self) -> None:
        """Nested tensors go to torch's own code, which takes them for self-attention in evaluation."""
        if not self._matches_torch:
            raise self.no_counterpart_error("nested tensors with num_kv_heads=, head_dim= or positions=")

    @property
    def _matches_torch(self) -> bool:
        has_torchs_heads = self.num_kv_heads == self.num_heads and self._widths[0] == self.embed_dim
        return self.positions is None and has_torchs_heads

    def to_torch(self) -> nn.Module:
        if not self._matches_torch:
            raise self.no_counterpart_error("it has num_kv_heads=, head_dim= or positions=")
        options = {"add_bias_kv": self.bias_k is not None, "add_zero_attn": self.add_zero_attn}
        torch_layer = TorchMultiheadAttention(
            self.embed_dim,
            self.num_heads,
            self.dropout,
            bias=self.in_proj_bias is not None,
            kdim=self.kdim,
            vdim=self.vdim,
            batch_first=self.batch_first,
            device="meta",
            **options,
        )
        return adopt(torch_layer, self)

    def _attend(
        self, q: Heads, k: KeyHeads, v: KeyHeads, mask: AttentionMask, *, need_weights: bool
    ) -> tuple[Heads, Alignment | None]:
        if self.alignment_hook is not None:
            self.alignment_hook(compute_alignment(q, k, mask))
        dropout = self.dropout if self.training else 0.0
        if need_weights:  # the returned weights must be those actually used
            return attend_with_weights(q, k, v, mask, dropout=dropout)
        return attend_heads(q, k, v, mask, dropout=dropout), None

    def _project(
        self, query: Tensor, key: Tensor, value: Tensor, layout: InputLayout
    ) -> tuple[Heads, KeyHeads, KeyHeads]:
        """Project the inputs; inputs that are the same tensor share one product. Each parameter is read once:
        a parametrization computes it at every read.
        """
        sizes, weight, bias = list(self._widths), self.in_proj_weight, self.in_proj_bias
        if weight is not None and query is key and key is value:
            q, k, v = F.linear(query, weight, bias).split(sizes, dim=-1)
        elif weight is not None and key is value:
            q = F.linear(query, weight[: sizes[0]], None if bias is None else bias[: sizes[0]])
            k, v = F.linear(key, weight[sizes[0] :], None if bias is None else bias[sizes[0] :]).split(
                sizes[1:], dim=-1
            )
        else:
            separate = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
            matrices = separate if weight is None else weight.split(sizes)
            biases = [None] * 3 if bias is None else bias.split(sizes)
            q, k, v = map(F.linear, (query, key, value), matrices, biases)
        return (
            layout.split(q, self.num_heads),
            layout.split(k, self.num_kv_heads),
            layout.split(v, self.num_kv_heads),
        )

    def _placed(
        self, q: Heads, k: KeyHeads
    ) -> tuple[Heads, KeyHeads, Float[Tensor, "#batch heads target source"] | None]:
        if self.positions is None:
            return q, k, None
        position_ids = torch.arange(max(q.shape[2], k.shape[2]), device=q.device).unsqueeze(0)  # (1, time)
        of_queries, of_keys = position_ids[:, : q.shape[2]], position_ids[:, : k.shape[2]]
        return (
            self.positions.apply_rotary(q, of_queries),
            self.positions.apply_rotary(k, of_keys),
            self.positions.bias(of_queries, of_keys),
        )

    def _extended(self, k: KeyHeads, v: KeyHeads) -> tuple[Tensor, Tensor]:
        """Append a learned key and value (add_bias_kv) and one of zeros (add_zero_attn), if enabled."""
        batch = k.shape[0]
        bias_k, bias_v = self.bias_k, self.bias_v
        if bias_k is not None and bias_v is not None:
            more = [
                row.view(1, self.num_kv_heads, 1, self.head_dim).expand(batch, -1, -1, -1)
                for row in (bias_k, bias_v)
            ]
            k, v = torch.cat([k, more[0]], dim=2), torch.cat([v, more[1]], dim=2)
        if self.add_zero_attn:
            k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        return k, v


def _divisors(number: int) -> list[int]:
    return [count for count in range(1, number + 1) if number % count == 0]
