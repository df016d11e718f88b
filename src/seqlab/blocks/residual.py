"""Residual connections: how the output of a sublayer is combined with its input.

A sublayer is attention or the feed-forward network. `before_sublayer` computes the input of the sublayer,
`after_sublayer` combines its output with the original steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout

Steps = Float[Tensor, "batch time hidden"]


class Residual(nn.Module, ABC):
    """The residual connection of one sublayer; `dropout` applies to the sublayer's output."""

    def __init__(self, *, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    @abstractmethod
    def before_sublayer(self, steps: Steps) -> Steps: ...

    @abstractmethod
    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps: ...


class NormedResidual(Residual):
    """A residual connection with a norm."""

    def __init__(self, norm: nn.Module, *, dropout: float) -> None:
        super().__init__(dropout=dropout)
        self.norm = norm


class PostNorm(NormedResidual):
    """x' = norm(x + sublayer(x)), as first published.

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """

    def before_sublayer(self, steps: Steps) -> Steps:
        return steps

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return self.norm(steps + self.dropout(sublayer_output))


class PreNorm(NormedResidual):
    """x' = x + sublayer(norm(x)): the residual path is not normalized, so deep stacks train without warm-up.

    Paper: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", arXiv:2002.04745.
    """

    def before_sublayer(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return steps + self.dropout(sublayer_output)


class NormalizedSkip(NormedResidual):
    """x' = norm(x) + sublayer(norm(x)): a common mistake, which adds the sublayer's output to the normalized
    steps.

        x = norm(x)              the original steps are lost here,
        x = x + sublayer(x)      and no path bypasses the norm

    Available for comparison; the lecture's layer makes this mistake around its attention only.
    """

    def before_sublayer(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return sublayer_input + self.dropout(sublayer_output)


class ReZero(Residual):
    """x' = x + α sublayer(x), with α learned from 0: each layer starts as the identity.

    `scale` is α. The paper's text has one for each sublayer; the sublayers of a layer may also share one.
    Paper: Bachlechner et al. 2020, "ReZero is All You Need", arXiv:2003.04887, section 3.
    """

    def __init__(self, scale: nn.Parameter, *, dropout: float) -> None:
        super().__init__(dropout=dropout)
        self.scale = scale

    def before_sublayer(self, steps: Steps) -> Steps:
        return steps

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return steps + self.scale * self.dropout(sublayer_output)


def rezero_scale() -> nn.Parameter:
    """The initial α of a ReZero connection."""
    return nn.Parameter(torch.zeros(()))
