"""Check and normalize torch's input formats for attention: a batch with either axis first, or one sequence
without a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import UsageError


@dataclass(frozen=True)
class InputLayout:
    """The axis order in which sequences come in and go out."""

    is_batched: bool
    batch_first: bool

    @classmethod
    def from_query(cls, query: Tensor, *, batch_first: bool, where: str) -> InputLayout:
        if query.dim() not in (2, 3):
            raise UsageError(
                f"query has {query.dim()} axes.",
                where=where,
                cure="Pass three axes for a batch, or two for a single sequence.",
            )
        return cls(query.dim() == 3, batch_first and query.dim() == 3)

    def sizes(self, steps: Tensor) -> tuple[int, int]:
        """(batch, time)."""
        if not self.is_batched:
            return 1, steps.shape[0]
        return (steps.shape[0], steps.shape[1]) if self.batch_first else (steps.shape[1], steps.shape[0])

    def split(self, steps: Tensor, num_heads: int) -> Float[Tensor, "batch heads time head"]:
        heads = steps.unflatten(-1, (num_heads, -1))
        if not self.is_batched:
            return heads.transpose(0, 1).unsqueeze(0)
        return heads.transpose(1, 2) if self.batch_first else heads.permute(1, 2, 0, 3)

    def join(self, heads: Float[Tensor, "batch heads time head"]) -> Tensor:
        """Concatenate the heads, in the format of the queries."""
        if not self.is_batched:
            return heads.squeeze(0).transpose(0, 1).flatten(1)
        return heads.transpose(1, 2).flatten(2) if self.batch_first else heads.permute(2, 0, 1, 3).flatten(2)


def check_inputs(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    layout: InputLayout,
    widths: tuple[int, int, int],
    where: str,
) -> None:
    """Check that query, key and value fit each other and the attention."""
    for name, steps, width in zip(("query", "key", "value"), (query, key, value), widths, strict=True):
        if steps.dim() != query.dim():
            raise UsageError(
                f"query has {query.dim()} axes, but {name} has {steps.dim()}.",
                where=where,
                cure="Pass all three with a batch axis, or none.",
            )
        if steps.shape[-1] != width:
            cure = (
                "Set kdim= or vdim= for keys or values whose width differs from embed_dim."
                if name != "query"
                else ""
            )
            raise UsageError(
                f"{name} has {steps.shape[-1]} features, but the attention expects {width}.",
                where=where,
                cure=cure,
            )
    if layout.sizes(key) != layout.sizes(value):
        raise UsageError(
            f"keys and values do not match: {_describe(layout.sizes(key))} of keys,"
            f" {_describe(layout.sizes(value))} of values.",
            where=where,
            cure="Pass one value for each key.",
        )
    if layout.sizes(query)[0] != layout.sizes(key)[0]:
        order = "(batch, time, features)" if layout.batch_first else "(time, batch, features)"
        raise UsageError(
            f"{layout.sizes(query)[0]} sequences of queries do not match {layout.sizes(key)[0]} sequences"
            " of keys.",
            where=where,
            cure=f"With batch_first={layout.batch_first} the axes are {order}.",
        )


def _describe(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]} sequences with {sizes[1]} steps"
