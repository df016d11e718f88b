"""The weights of our Transformer layers and stacks under the names that torch.nn gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

NAMES = {
    "attention.qkv.": "self_attn.in_proj_",
    "attention.output.": "self_attn.out_proj.",
    "cross_attention.output.": "multihead_attn.out_proj.",
    "feed_forward.expand.": "linear1.",
    "feed_forward.contract.": "linear2.",
    "attention_residual.norm.": "norm1.",
    "cross_residual.norm.": "norm2.",
    "last_norm.": "norm.",
}


def as_torch_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    renamed: dict[str, Tensor] = {}
    for name, value in weights.items():
        prefix, own = _parted(name)
        if own.startswith("feed_forward_residual.norm."):
            has_cross = f"{prefix}cross_attention.query.weight" in weights
            renamed[
                prefix + own.replace("feed_forward_residual.norm.", "norm3." if has_cross else "norm2.")
            ] = value
        elif match := re.fullmatch(r"cross_attention\.query\.(\w+)", own):
            parts = [
                weights[f"{prefix}cross_attention.{each}.{match[1]}"] for each in ("query", "key", "value")
            ]
            renamed[f"{prefix}multihead_attn.in_proj_{match[1]}"] = torch.cat(parts)
        else:
            renamed |= {
                prefix + own.replace(ours, theirs): value
                for ours, theirs in NAMES.items()
                if own.startswith(ours)
            }
    return renamed


def _parted(name: str) -> tuple[str, str]:
    """What stands before a layer's own names, and these."""
    match = re.fullmatch(r"((?:encoder\.|decoder\.)?(?:layers\.\d+\.)?)(.*)", name)
    assert match
    return match[1], match[2]
