"""Dynamic evaluation: a language model keeps learning from the text that it is scored on, always after the text
was scored.

    w <- w - rate · ∇L(segment) + pull · (w_trained - w)

Each segment is scored before the weights are updated on it, so a text on one subject becomes more probable
from segment to segment. The run itself never changes; a copy of the model is updated.

Paper: Krause et al. 2018, "Dynamic Evaluation of Neural Sequence Models", arXiv:1709.07432, section 3
(gradient steps with a pull back towards the trained weights; without their scaling by the size of the training
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
from seqlab.training.gradients import clip_by_norm

SEGMENT = 64
"""Tokens between two updates."""
MAX_NORM = 1.0
"""Clipping norm of the gradient of a segment."""
RATES = (0.03, 0.1, 0.3)
PULLS = (0.0, 0.003)


@dataclass(frozen=True)
class DynamicSettings:
    """The learning rate of the copy, and how strongly it decays toward the trained weights."""

    rate: float
    pull: float = 0.0


def dynamic_log_probs(
    model: LanguageModel, text: NDArray[Any], settings: DynamicSettings, *, segment: int = SEGMENT
) -> NDArray[np.float64]:
    """Return the log-probability (in nats) of every token but the first, under a model that learns as it
    reads.
    """
    learner = copy.deepcopy(model).eval()  # no dropout during updates either
    pairs = list(zip(learner.parameters(), model.parameters(), strict=True))
    num_scored = len(text) - 1
    log_probs = np.empty(num_scored)  # allocated once: small arrays among large freed ones fragment memory
    state: ModelState | None = None
    for start in range(0, num_scored, segment):
        tokens = torch.from_numpy(text[start : start + segment + 1].astype(np.int64))
        inputs, targets = tokens[None, :-1], tokens[1:]
        logits, next_state = learner(
            inputs, torch.ones_like(inputs, dtype=torch.bool), state
        )  # (1, time, vocab)
        log_probs[start : start + len(targets)] = (
            -F.cross_entropy(logits[0].detach(), targets, reduction="none").double().numpy()
        )
        state = tuple(part.detach() for part in next_state)
        if settings.rate or settings.pull:
            learner.zero_grad(set_to_none=True)
            F.cross_entropy(logits[0], targets).backward()
            clip_by_norm(learner.parameters(), MAX_NORM)
            _update(pairs, settings)
    return log_probs


@torch.no_grad()
def _update(pairs: list[tuple[torch.nn.Parameter, torch.nn.Parameter]], settings: DynamicSettings) -> None:
    for weight, trained in pairs:
        if weight.grad is not None:
            weight.sub_(weight.grad, alpha=settings.rate)
        if settings.pull:
            weight.lerp_(trained, settings.pull)
