"""Input layers: an embedding table for token ids, a linear projection for vectors."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn


class TokenEmbedding(nn.Embedding):
    """An embedding table with one learned row per token. The row of `pad_id` is zero and never trained."""

    def __init__(self, num_tokens: int, hidden_size: int, *, pad_id: int | None, std: float = 1.0) -> None:
        super().__init__(num_tokens, hidden_size, padding_idx=pad_id)
        nn.init.normal_(self.weight, std=std)
        if pad_id is not None:
            nn.init.zeros_(self.weight.data[pad_id])

    def forward(self, inputs: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time hidden"]:
        return super().forward(inputs)


class InputProjection(nn.Linear):
    """A linear projection of the numbers of a step: time series, feature vectors, rows of an image."""

    def forward(self, inputs: Float[Tensor, "batch time features"]) -> Float[Tensor, "batch time hidden"]:
        return super().forward(inputs)
