"""LoRA adapters: a large matrix stays frozen, and a learned low-rank product is added to it."""

from __future__ import annotations

from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.core.errors import UsageError, listed

ATTENTION_LAYERS = ("qkv", "query", "key", "value", "output")
"""The projections of attention, by the names they have in its classes."""


class LoRALinear(nn.Module):
    """output = W x + b + (alpha / rank) · B A x, where W and b are frozen, A is (rank, input) and B is
    (output, rank).

    B starts at zero, so nothing changes before the first update. Paper: Hu et al. 2021, "LoRA: Low-Rank
    Adaptation of Large Language Models", arXiv:2106.09685, section 4.1.
    """

    def __init__(self, base: nn.Linear, *, rank: int, alpha: float = 16.0) -> None:
        super().__init__()
        if rank < 1:
            raise UsageError(
                f"a LoRA adapter of rank {rank} has no parameters.", cure="Use a rank of at least 1."
            )
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(base.weight.new_empty(rank, base.in_features))
        self.up = nn.Parameter(base.weight.new_zeros(base.out_features, rank))
        nn.init.normal_(self.down, std=base.in_features**-0.5)
        self.rank, self.alpha = rank, alpha

    @property
    def scale(self) -> float:
        return self.alpha / self.rank

    def forward(self, inputs: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch output"]:
        return self.base(inputs) + F.linear(F.linear(inputs, self.down), self.up) * self.scale

    def merge(self) -> nn.Linear:
        """An equivalent plain linear layer: W' = W + (alpha / rank) B A."""
        base = self.base
        merged = nn.utils.skip_init(
            nn.Linear, base.in_features, base.out_features, bias=base.bias is not None
        )
        merged = merged.to(base.weight)
        with torch.no_grad():
            merged.weight.copy_(base.weight + self.scale * (self.up @ self.down))
            if base.bias is not None:
                merged.bias.copy_(base.bias)
        return merged

    def extra_repr(self) -> str:
        return f"rank={self.rank}, alpha={self.alpha:g}"


def add_lora(
    module: nn.Module, *, rank: int, alpha: float = 16.0, target_modules: Collection[str] = ATTENTION_LAYERS
) -> int:
    """Add an adapter to every linear layer with one of these names inside a module, in place; returns the
    number of adapters.

    Only the layers with adapters are frozen; the caller decides whether the rest of the network is trained.

    >>> network = nn.ModuleDict({"qkv": nn.Linear(3, 9), "expand": nn.Linear(3, 5)})
    >>> add_lora(network, rank=2), type(network["qkv"]).__name__, type(network["expand"]).__name__
    (1, 'LoRALinear', 'Linear')
    """
    places = [
        (parent, name)
        for parent in module.modules()
        for name, child in parent.named_children()
        if isinstance(child, nn.Linear)
    ]
    inside = {id(child.base) for child in module.modules() if isinstance(child, LoRALinear)}
    chosen = [
        (parent, name)
        for parent, name in places
        if name in target_modules and id(getattr(parent, name)) not in inside
    ]
    if not chosen:
        names = listed(sorted({name for _, name in places}))
        raise UsageError(
            f"no linear layer here is named {listed(sorted(target_modules))}.",
            cure=f"Linear layers of this module: {names}. Pass them with add_lora(…, target_modules=[…])",
        )
    for parent, name in chosen:
        setattr(parent, name, LoRALinear(getattr(parent, name), rank=rank, alpha=alpha))
    return len(chosen)


def merge_lora(module: nn.Module) -> int:
    """Replace every adapter inside a module by a plain linear layer; returns the number of adapters."""
    places = [
        (parent, name)
        for parent in module.modules()
        for name, child in parent.named_children()
        if isinstance(child, LoRALinear)
    ]
    for parent, name in places:
        setattr(parent, name, getattr(parent, name).merge())
    return len(places)
