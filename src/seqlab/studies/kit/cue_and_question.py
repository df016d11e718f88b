"""The recall task: a cue, a gap of noise, and a question that asks for the cue."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

NUM_CUES = 4
NUM_NOISE = 4


@dataclass(frozen=True)
class RecallTask:
    """Sequences of one-hot steps and the answer at their last one.

        cue, noise × gap, question        ->  which cue was it?
        cue, other, noise × gap, question ->  which of the two came first?   (with `two_cues`)

    Guessing is correct in one of four cases. With two cues, a network that knows both but not their order is
    correct in one of two.
    """

    gap: int
    two_cues: bool = False
    noise_std: float = 0.0
    """Size of the random numbers that are added to every step."""

    @property
    def num_symbols(self) -> int:
        return NUM_CUES + NUM_NOISE + 1

    @property
    def length(self) -> int:
        return self.gap + (3 if self.two_cues else 2)

    def draw(
        self, batch_size: int, generator: torch.Generator
    ) -> tuple[Float[Tensor, "batch time symbols"], Int[Tensor, "batch"]]:
        cue = torch.randint(NUM_CUES, (batch_size,), generator=generator)
        other = (cue + torch.randint(1, NUM_CUES, (batch_size,), generator=generator)) % NUM_CUES
        noise = torch.randint(NUM_CUES, NUM_CUES + NUM_NOISE, (batch_size, self.gap), generator=generator)
        question = torch.full((batch_size, 1), NUM_CUES + NUM_NOISE)
        cues = [cue.unsqueeze(1), other.unsqueeze(1)] if self.two_cues else [cue.unsqueeze(1)]
        symbols = torch.cat([*cues, noise, question], dim=1)
        steps = F.one_hot(symbols, self.num_symbols).float()
        return steps + self.noise_std * torch.randn(steps.shape, generator=generator), cue
