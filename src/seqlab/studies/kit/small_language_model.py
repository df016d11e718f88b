"""A small character language model: embedding, recurrent layers, linear output."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.recurrent import CellFactory, build_stack
from seqlab.studies.kit.small_text import SmallText


class SmallLanguageModel(nn.Module):
    """logits_t = V stack(embed(tokens))_t + c."""

    def __init__(
        self,
        num_symbols: int,
        make_cell: CellFactory,
        hidden_size: int,
        *,
        layers: int = 1,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(num_symbols, hidden_size)
        self.stack = build_stack(hidden_size, make_cell, [hidden_size] * layers, residual=residual)
        self.head = nn.Linear(hidden_size, num_symbols)

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time symbols"]:
        return self.head(self.stack(self.embed(tokens), torch.ones_like(tokens, dtype=torch.bool))[0])

    def nats(
        self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> Float[Tensor, ""]:
        """Mean over all characters."""
        return F.cross_entropy(self(tokens).flatten(0, 1), targets.flatten())


@torch.no_grad()
def valid_nats(model: SmallLanguageModel, text: SmallText, *, time: int, num_rows: int = 40) -> float:
    """Nats per character on held-out text."""
    return model.nats(*text.valid_rows(time, num_rows)).item()
