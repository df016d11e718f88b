"""Attention masks: causal, padding and sliding-window."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.attention.block_window import blockwise_is_cheaper
from seqlab.core.errors import UsageError
from seqlab.positions.offsets import compute_position_ids

AXES = ("batch", "heads", "target", "source")


@dataclass(frozen=True)
class AttentionMask:
    """Which keys each query may attend to: all, except those excluded by a mask tensor, by causality or by a
    window.

    tensor   axes (batch, heads, target, source), of which all but the last may be 1: True where a query may
             attend to a key, or a number that is added to the score, -inf where it may not
    causal   a step sees itself and earlier steps
    window   a step sees the steps nearer than this, on both sides; 0 means no window

    The queries are the last steps of the keys' sequence, so a causal mask is also correct with a KV cache.
    """

    tensor: Tensor | None = None
    causal: bool = False
    window: int = 0

    def check(self, scores: tuple[int, int, int, int], dtype: torch.dtype) -> None:
        """Reject a mask that does not fit scores of this shape and type."""
        if self.tensor is None:
            return
        shape = tuple(self.tensor.shape)
        if (
            len(shape) != 4
            or shape[3] != scores[3]
            or any(size not in (1, expected) for size, expected in zip(shape, scores, strict=True))
        ):
            expected = ", ".join(f"{name} {size}" for name, size in zip(AXES, scores, strict=True))
            raise UsageError(
                f"a mask of shape {shape} does not match scores of shape ({expected}).",
                cure=(
                    "A mask has these four axes, and all but the last may be 1. A padding mask is"
                    " is_token[:, None, None, :]."
                ),
            )
        if self.tensor.dtype not in (torch.bool, dtype):
            raise UsageError(
                f"a mask of dtype {_word(self.tensor.dtype)} does not match scores of dtype {_word(dtype)}.",
                cure=(
                    "Use a bool mask (True where a query may attend), or a mask of the scores' dtype"
                    " that is added to them."
                ),
            )

    def is_blockwise(self, target: int, source: int) -> bool:
        """Whether the mask is a window, optionally with a padding mask, over enough steps for block-wise
        attention to be cheaper.
        """
        if not self.window or target != source or not blockwise_is_cheaper(source, self.window):
            return False
        return self.tensor is None or (
            self.tensor.dtype == torch.bool and self.tensor.shape[1] == self.tensor.shape[2] == 1
        )

    def materialize(self, target: int, source: int, *, device: torch.device) -> AttentionMask:
        """The same mask as a single tensor; a purely causal mask is kept, since kernels support it
        directly.
        """
        if not self.window and not (self.causal and (self.tensor is not None or target != source)):
            return self
        allowed: Bool[Tensor, "target source"] | None = (
            sliding_window_mask(target, source, window=self.window, device=device) if self.window else None
        )
        if self.causal:
            past = causal_mask(target, source, device=device)
            allowed = past if allowed is None else allowed & past
        return replace(self, tensor=_combine(self.tensor, allowed), causal=False, window=0)


def causal_mask(
    target: int, source: int, *, device: torch.device | None = None
) -> Bool[Tensor, "target source"]:
    """The last `target` of `source` steps attend to themselves and all earlier steps.

    >>> causal_mask(2, 3).int().tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    return torch.ones(target, source, dtype=torch.bool, device=device).tril(source - target)


def sliding_window_mask(
    target: int, source: int, *, window: int, device: torch.device | None = None
) -> Bool[Tensor, "target source"]:
    """The last `target` of `source` steps attend to the steps nearer than `window`, on both sides.

    >>> sliding_window_mask(3, 3, window=2).int().tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    near = torch.ones(target, source, dtype=torch.bool, device=device)
    return near.triu(source - target - window + 1).tril(source - target + window - 1)


def attention_mask(
    is_token: Bool[Tensor, "batch source"],
    *,
    time: int,
    causal: bool,
    window: int = 0,
    bias: Float[Tensor, "#batch heads time source"] | None = None,
) -> AttentionMask:
    """The attention mask of the last `time` steps over all steps so far, built once for all layers.

    `is_token` is True at real steps; padding follows the real steps of its chunk. No mask is built if none is
    needed: in a causal network real steps never attend to padding after them, and a single step that sees
    everything needs no causal mask either. A window counts real steps. `bias` is added to the scores.
    """
    source = is_token.shape[1]
    visible = is_token[:, : source - time] if causal else is_token
    padded = None if bool(visible.all()) else is_token[:, None, None, :]  # (batch, 1, 1, source)
    window = window if source > window else 0
    causal = causal and time > 1
    if bias is None and window and source == time and blockwise_is_cheaper(time, window):
        return AttentionMask(padded, causal=causal, window=window)
    allowed = padded
    if window and not bool(is_token[:, : source - time].all()):  # distances do not count padding
        queries, keys = compute_position_ids(is_token, time=time)
        near = (queries[:, None, :, None] - keys[:, None, None, :]).abs() < window  # (batch, 1, time, source)
        allowed, window = _combine(padded, near), 0
    return AttentionMask(_combine(bias, allowed), causal=causal, window=window).materialize(
        time, source, device=is_token.device
    )


def num_steps_to_keep(is_token: Bool[Tensor, "batch source"], *, window: int) -> int:
    """The number of last steps that later steps can still see through a window; 0 means no window.

    >>> num_steps_to_keep(torch.tensor([[True, True, True, True, True], [True, True, True, False, False]]), window=2)
    3
    """
    source = is_token.shape[1]
    if not window or source < 2 * window:  # not worth counting yet
        return source
    later = is_token.flip(1).cumsum(dim=1).flip(1)  # (batch, source): real steps from here on
    seen = (is_token & (later < window)).any(dim=0)  # (source,)
    return source - int(seen.int().argmax()) if bool(seen.any()) else 0


def _combine(mask: Tensor | None, allowed: Tensor | None) -> Tensor | None:
    """A mask with further pairs excluded; `allowed` is True for pairs to keep."""
    if mask is None or allowed is None:
        joined = mask if allowed is None else allowed
        return joined if joined is None else joined.view((1,) * (4 - joined.ndim) + tuple(joined.shape))
    return mask & allowed if mask.dtype == torch.bool else mask.masked_fill(~allowed, -torch.inf)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
