"""A causal Transformer over characters, for studies of how such networks train."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from seqlab.studies.kit.small_text import SmallText

VALID_ROWS = 200


class SmallTransformer(nn.Module):
    """logits_t = V layers(embed(tokens))_t + c, without dropout."""

    def __init__(
        self, num_symbols: int, *, layers: int, norm: Literal["pre", "post", "rezero"], hidden_size: int = 32
    ) -> None:
        super().__init__()
        settings = TransformerSettings(
            layers=layers, hidden_size=hidden_size, heads=4, norm=norm, dropout=0.0
        )
        self.embed = nn.Embedding(num_symbols, hidden_size)
        self.backbone = TransformerBackbone.from_settings(settings, causal=True)
        self.head = nn.Linear(hidden_size, num_symbols)

    def nats(
        self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> Float[Tensor, ""]:
        """Mean over all characters."""
        features, _ = self.backbone(self.embed(tokens), torch.ones_like(tokens, dtype=torch.bool))
        return F.cross_entropy(self.head(features).flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def valid_nats(self, text: SmallText, *, time: int) -> float:
        """Nats per character on held-out text."""
        return self.nats(*text.valid_rows(time, VALID_ROWS)).item()


def unigram_valid_nats(text: SmallText, *, time: int) -> float:
    """The `valid_nats` of a unigram model of the training part."""
    return text.unigram_nats_of(text.valid_rows(time, VALID_ROWS)[1])
