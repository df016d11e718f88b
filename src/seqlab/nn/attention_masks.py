"""Check torch's attention masks and convert them to one of seqlab's: in torch True forbids attention, in
seqlab True allows it.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.attention.masks import AttentionMask
from seqlab.core.errors import UsageError


def attention_mask_from_torch(
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    *,
    is_causal: bool,
    may_ignore_mask: bool,
    sizes: tuple[int, int, int, int],
    num_extra: int,
    bias: Tensor | None,
    like: Tensor,
    where: str,
) -> AttentionMask:
    """The attention mask for the sizes (batch, heads, target, source), where source counts the user's keys.

    is_causal: a hint as in torch. It replaces a missing mask, and any mask if `may_ignore_mask`. num_extra:
    extra keys after the user's, visible to every query. bias: values added to the scores of the user's keys.
    """
    padding = None if key_padding_mask is None else _checked_padding(key_padding_mask, sizes, where=where)
    mask = None if attn_mask is None else _checked_mask(attn_mask, sizes, where=where)
    if is_causal and (mask is None or (may_ignore_mask and padding is None)):
        if padding is None and bias is None and not num_extra and sizes[2] == sizes[3]:
            return AttentionMask(causal=True)
        mask = torch.ones(sizes[2:], dtype=torch.bool, device=like.device).triu(1)[None, None]
    return AttentionMask(
        _joined([part for part in (padding, mask, bias) if part is not None], num_extra=num_extra, like=like)
    )


def is_causal_mask(mask: Tensor | None, hint: bool | None, size: int | None) -> bool:
    """The user's hint; without one, whether the mask is causal (each step sees itself and the steps
    before).
    """
    if hint is not None:
        return hint
    if mask is None or size is None or mask.shape != (size, size):
        return False
    later = torch.ones(size, size, dtype=torch.bool, device=mask.device).triu(1)
    return torch.equal(
        mask, later if mask.dtype == torch.bool else torch.zeros_like(mask).masked_fill(later, -torch.inf)
    )


def _joined(parts: list[Tensor], *, num_extra: int, like: Tensor) -> Tensor | None:
    """One mask, as the kernel takes it: True where a query may attend, or values to add to the scores."""
    if not parts:
        return None
    hidden = [part for part in parts if part.dtype == torch.bool]
    added = [part.to(like.dtype) for part in parts if part.dtype != torch.bool]
    may_look = None
    for part in hidden:
        may_look = ~part if may_look is None else may_look & ~part
    if not added:
        assert may_look is not None
        return F.pad(may_look, (0, num_extra), value=True) if num_extra else may_look
    total = added[0]
    for part in added[1:]:
        total = total + part
    if may_look is not None:
        total = torch.where(may_look, total, -torch.inf)
    return F.pad(total, (0, num_extra)) if num_extra else total


def _checked_padding(mask: Tensor, sizes: tuple[int, int, int, int], *, where: str) -> Tensor:
    """(batch, 1, 1, source)."""
    batch, _, _, source = sizes
    _check_type(mask, "key_padding_mask", where=where)
    if mask.shape != (batch, source):
        raise UsageError(
            f"key_padding_mask has shape {tuple(mask.shape)}, but {batch} sequences with {source} keys"
            f" need {(batch, source)}.",
            where=where,
            cure=(
                "It has one row per sequence, even with batch_first=False; for a single sequence without"
                " a batch axis, pass (keys,)."
            ),
        )
    return mask[:, None, None, :]


def _checked_mask(mask: Tensor, sizes: tuple[int, int, int, int], *, where: str) -> Tensor:
    """(1, 1, target, source) or (batch, heads, target, source)."""
    batch, heads, target, source = sizes
    _check_type(mask, "attn_mask", where=where)
    if mask.shape == (target, source):
        return mask[None, None]
    if mask.shape == (batch * heads, target, source):
        return mask.view(batch, heads, target, source)
    raise UsageError(
        f"attn_mask has shape {tuple(mask.shape)}, but {target} queries and {source} keys need"
        f" {(target, source)}.",
        where=where,
        cure=(
            f"A mask for each sequence and head has shape {(batch * heads, target, source)}: {batch}"
            f" sequences × {heads} heads."
        ),
    )


def _check_type(mask: Tensor, name: str, *, where: str) -> None:
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise UsageError(
            f"{name} has dtype {str(mask.dtype).removeprefix('torch.')}.",
            where=where,
            cure=("Use bool, where True masks a key, or floating point, which is added to the scores."),
        )
