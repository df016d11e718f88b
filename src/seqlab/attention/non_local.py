"""Non-local block: every position of an image or a video attends to every other one."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.base import ScoreFunction
from seqlab.attention.dot import DotScore
from seqlab.attention.normalization import Normalizer


class NonLocalBlock(nn.Module):
    """Self-attention over features with any number of space and time axes.

        A  = softmax((X W_θᵀ)(W_φ Xᵀ))         a row for each position: positions * positions numbers
        X' = X + (A X W_gᵀ) W_oᵀ

    X has one row for each of the T·H·W positions, with C channels. W_o starts at zero, so the block can be
    inserted into a trained network without changing its output at first. Paper: Wang et al. 2018, "Non-local
    Neural Networks", arXiv:1711.07971, section 3.

    inner_size: channels inside the block; 0 means half of `channels`, as in the paper. score: attention score
    for queries and keys of width inner_size; None means the dot product.
    """

    def __init__(
        self,
        channels: int,
        *,
        inner_size: int = 0,
        score: ScoreFunction | None = None,
        normalizer: Normalizer | None = None,
    ) -> None:
        super().__init__()
        inner_size = inner_size or max(1, channels // 2)
        self.theta = nn.Linear(channels, inner_size, bias=False)
        self.attention = Attention(
            score or DotScore(inner_size, inner_size),
            normalizer=normalizer,
            key=nn.Linear(channels, inner_size, bias=False),  # φ
            value=nn.Linear(channels, inner_size, bias=False),  # g
        )
        self.output = nn.Linear(inner_size, channels, bias=False)
        nn.init.zeros_(self.output.weight)

    def forward(
        self,
        features: Float[Tensor, "batch *places channels"],
        is_real: Bool[Tensor, "batch *places"] | None = None,
    ) -> Float[Tensor, "batch *places channels"]:
        """Channels are the last axis.

        `is_real` is False for masked positions, such as frames after the end of a video.
        """
        positions = features.flatten(1, -2)  # (batch, T·H·W, channels)
        may_attend = None if is_real is None else is_real.flatten(1).unsqueeze(1)  # (batch, 1, T·H·W)
        contexts, _ = self.attention(self.theta(positions), positions, may_attend=may_attend)
        return features + self.output(contexts).view_as(features)
