"""Dynamic evaluation: a language model goes on learning from the text that it is scored on, always after it
was scored.

    w <- w - rate · ∇L(segment) + pull · (w_trained - w)

Each segment is scored first, with the weights that the segments before it left; only then does it change
them. The text of one subject thereby becomes likelier as it goes on. The run itself is never changed: a copy
learns.

Paper: Krause et al. 2018, "Dynamic Evaluation of Neural Sequence Models", arXiv:1709.07432, section 3
(gradient steps with a pull back towards what training found; without their scaling by the size of training's
gradients).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from seqlab.models.base import ModelState
from seqlab.models.language_model import LanguageModel
from seqlab.training.clipping import clip_by_norm

SEGMENT = 64
"""Tokens from one step of learning to the next."""
LARGEST_STEP = 1.0
"""Norm to which the gradient of a segment is clipped."""
RATES = (0.03, 0.1, 0.3)
PULLS = (0.0, 0.003)


@dataclass(frozen=True)
class DynamicNumbers:
    """How fast the copy learns, and how strongly it is pulled back."""

    rate: float
    pull: float = 0.0


def dynamic_log_probs(
    model: LanguageModel, text: NDArray[Any], numbers: DynamicNumbers, *, segment: int = SEGMENT
) -> NDArray[np.float64]:
    """The natural-log probability of every token of a text but the first, learned from as it is read."""
    learner = copy.deepcopy(model).eval()  # no dropout: it answers and learns as it is
    pairs = list(zip(learner.parameters(), model.parameters(), strict=True))
    num_scored = len(text) - 1
    log_probs = np.empty(
        num_scored
    )  # made once: small pieces that stay between the large ones that go would let memory grow
    state: ModelState | None = None
    for start in range(0, num_scored, segment):
        tokens = torch.from_numpy(text[start : start + segment + 1].astype(np.int64))
        inputs, targets = tokens[None, :-1], tokens[1:]
        logits, after = learner(inputs, torch.ones_like(inputs, dtype=torch.bool), state)  # (1, time, vocab)
        log_probs[start : start + len(targets)] = (
            -F.cross_entropy(logits[0].detach(), targets, reduction="none").double().numpy()
        )
        state = tuple(part.detach() for part in after)
        if numbers.rate or numbers.pull:
            learner.zero_grad(set_to_none=True)
            F.cross_entropy(logits[0], targets).backward()
            clip_by_norm(learner.parameters(), LARGEST_STEP)
            _move(pairs, numbers)
    return log_probs


@torch.no_grad()
def _move(pairs: list[tuple[torch.nn.Parameter, torch.nn.Parameter]], numbers: DynamicNumbers) -> None:
    for weight, trained in pairs:
        if weight.grad is not None:
            weight.sub_(weight.grad, alpha=numbers.rate)
        if numbers.pull:
            weight.lerp_(trained, numbers.pull)
