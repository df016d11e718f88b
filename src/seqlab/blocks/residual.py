"""How the output of a sub-layer joins what went into it.

A sub-layer is attention or the feed-forward network. Around it stand two moments: `before_sublayer` gives
what the sub-layer sees, `after_sublayer` joins its output with what was there before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout

Steps = Float[Tensor, "batch time hidden"]


class Residual(nn.Module, ABC):
    """The path around one sub-layer; `dropout` takes from the sub-layer's output."""

    def __init__(self, *, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    @abstractmethod
    def before_sublayer(self, steps: Steps) -> Steps: ...

    @abstractmethod
    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps: ...


class NormedResidual(Residual):
    """A path with a norm somewhere on it."""

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
    """x' = x + sublayer(norm(x)): the path around stays untouched, so deep stacks train without warm-up.

    Paper: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", arXiv:2002.04745.
    """

    def before_sublayer(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return steps + self.dropout(sublayer_output)


class NormalizedSkip(NormedResidual):
    """x' = norm(x) + sublayer(norm(x)): the sum is taken from the normalized steps, a slip that is easy to
    make in code.

        x = norm(x)              what the steps were before is lost here,
        x = x + sublayer(x)      and nothing runs around the norm

    Kept by name so that the difference can be seen; the lecture's layer has it around its attention only.
    """

    def before_sublayer(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return sublayer_input + self.dropout(sublayer_output)


class ReZero(Residual):
    """x' = x + α sublayer(x), with α learned from 0: at first a layer does nothing.

    `scale` is α. One for each sub-layer is what the text of the paper says; layers may also share one between
    their sub-layers. Paper: Bachlechner et al. 2020, "ReZero is All You Need", arXiv:2003.04887, section 3.
    """

    def __init__(self, scale: nn.Parameter, *, dropout: float) -> None:
        super().__init__(dropout=dropout)
        self.scale = scale

    def before_sublayer(self, steps: Steps) -> Steps:
        return steps

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return steps + self.scale * self.dropout(sublayer_output)


def rezero_scale() -> nn.Parameter:
    """The α of a ReZero path, before any learning."""
    return nn.Parameter(torch.zeros(()))
