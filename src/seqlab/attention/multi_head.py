"""Multi-head attention: several heads attend to the same steps, each in its own projection."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.heads import attend_heads, compute_alignment
from seqlab.attention.kv_cache import KVCache
from seqlab.attention.masks import AttentionMask
from seqlab.attention.recording import RecordableAttention
from seqlab.core.errors import ArgumentError

ApplyRotary = Callable[[Float[Tensor, "batch heads time head"]], Float[Tensor, "batch heads time head"]]
"""Rotates queries and keys by their positions (rotary embedding)."""
NO_MASK = AttentionMask()


class MultiHeadAttention(RecordableAttention):
    """The common part of self-attention and cross-attention, given queries, keys and values of several heads.

        alignment = softmax(q kᵀ / √head_size)      over the steps that may be attended to
        output    = W_o join_heads(alignment v) + b_o

    Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.2.

    num_kv_heads: number of key and value heads, each shared by a group of query heads; 0 means one for each
    query head. Paper: Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models",
    arXiv:2305.13245.

    `F.scaled_dot_product_attention` runs its flash kernel, with any mask that needs no gradient, as long as
    `dropout` (on the alignment) is 0; a positive value disables that path, which makes the step of a narrow
    network three times slower. A window much shorter than the sequence is computed block by block. The
    alignment itself is computed only for `record_alignments`. A query without visible keys gets zeros and
    gives no gradient.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        num_heads: int,
        head_size: int,
        num_kv_heads: int,
        output_bias: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads or num_heads
        self.head_size = head_size or _divided(hidden_size, num_heads)
        if num_heads % self.num_kv_heads:
            raise ArgumentError(
                "num_kv_heads",
                num_kv_heads,
                f"{num_heads} heads cannot be divided evenly among {self.num_kv_heads} key-value heads.",
                allowed=", ".join(str(count) for count in range(1, num_heads + 1) if num_heads % count == 0),
            )
        self.dropout = dropout
        self.output = _projection(num_heads * self.head_size, hidden_size, bias=output_bias)

    def _attend(
        self, q: Float[Tensor, "batch heads target head"], cache: KVCache, mask: AttentionMask
    ) -> Float[Tensor, "batch target hidden"]:
        k, v = cache.keys, cache.values
        mask.check((q.shape[0], q.shape[1], q.shape[2], k.shape[2]), q.dtype)
        if self.alignment_hook is not None:
            self.alignment_hook(compute_alignment(q, k, mask))
        mixed = attend_heads(q, k, v, mask, dropout=self.dropout if self.training else 0.0)
        return self.output(mixed.transpose(1, 2).flatten(2))  # (batch, target, hidden)

    def _split(
        self, joined: Float[Tensor, "batch time joined"], num_heads: int
    ) -> Float[Tensor, "batch heads time head"]:
        return joined.unflatten(-1, (num_heads, self.head_size)).transpose(1, 2)


class MultiHeadSelfAttention(MultiHeadAttention):
    """Self-attention: q, k, v = split_heads(W_qkv x), one product for all three."""

    def __init__(
        self,
        hidden_size: int,
        *,
        num_heads: int,
        head_size: int = 0,
        num_kv_heads: int = 0,
        qkv_bias: bool = True,
        output_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            hidden_size,
            num_heads=num_heads,
            head_size=head_size,
            num_kv_heads=num_kv_heads,
            output_bias=output_bias,
            dropout=dropout,
        )
        self.qkv = _projection(
            hidden_size, (num_heads + 2 * self.num_kv_heads) * self.head_size, bias=qkv_bias
        )

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        *,
        mask: AttentionMask = NO_MASK,
        apply_rotary: ApplyRotary | None = None,
        cache: KVCache | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], KVCache]:
        """`cache` holds keys and values of earlier steps; it is returned with the new ones appended."""
        qkv = self.qkv(steps).unflatten(-1, (-1, self.head_size))  # (batch, time, heads + 2 kv_heads, head)
        if apply_rotary is None:
            q, k, v = (
                part.transpose(1, 2)
                for part in qkv.split([self.num_heads, self.num_kv_heads, self.num_kv_heads], dim=2)
            )
        else:
            qk, v = (
                part.transpose(1, 2)
                for part in qkv.split([self.num_heads + self.num_kv_heads, self.num_kv_heads], dim=2)
            )
            q, k = apply_rotary(qk).split([self.num_heads, self.num_kv_heads], dim=1)
        cache = KVCache.from_tensors(k, v) if cache is None else cache.extend(k, v)
        return self._attend(q, cache, mask), cache


class MultiHeadCrossAttention(MultiHeadAttention):
    """Cross-attention to a source: q = split_heads(W_q x), k = split_heads(W_k source), v = split_heads(W_v
    source).

    key_size, value_size: widths of the sources of keys and values; 0 means the width of the steps.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        num_heads: int,
        key_size: int = 0,
        value_size: int = 0,
        head_size: int = 0,
        num_kv_heads: int = 0,
        qkv_bias: bool = True,
        output_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            hidden_size,
            num_heads=num_heads,
            head_size=head_size,
            num_kv_heads=num_kv_heads,
            output_bias=output_bias,
            dropout=dropout,
        )
        self.query = _projection(hidden_size, num_heads * self.head_size, bias=qkv_bias)
        self.key = _projection(key_size or hidden_size, self.num_kv_heads * self.head_size, bias=qkv_bias)
        self.value = _projection(value_size or hidden_size, self.num_kv_heads * self.head_size, bias=qkv_bias)

    def project_source(
        self,
        keys: Float[Tensor, "batch source key"],
        values: Float[Tensor, "batch source value"] | None = None,
    ) -> KVCache:
        """Project the keys and values of a source once for all later steps.

        Values default to the same source.
        """
        key, value = self.key(keys), self.value(keys if values is None else values)
        return KVCache.from_tensors(
            self._split(key, self.num_kv_heads), self._split(value, self.num_kv_heads)
        )

    def forward(
        self, steps: Float[Tensor, "batch target hidden"], source: KVCache, *, mask: AttentionMask = NO_MASK
    ) -> Float[Tensor, "batch target hidden"]:
        return self._attend(self._split(self.query(steps), self.num_heads), source, mask)


def _projection(size: int, output_size: int, *, bias: bool) -> nn.Linear:
    layer = nn.Linear(size, output_size, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def _divided(hidden_size: int, num_heads: int) -> int:
    if hidden_size % num_heads:
        fitting = [
            heads
            for heads in range(1, hidden_size + 1)
            if hidden_size % heads == 0 and heads <= 2 * num_heads
        ]
        raise ArgumentError(
            "num_heads",
            num_heads,
            f"hidden_size {hidden_size} is not divisible by {num_heads}.",
            allowed=", ".join(map(str, fitting)),
            cure="For heads of any size, set head_size=NUMBER",
        )
    return hidden_size // num_heads
