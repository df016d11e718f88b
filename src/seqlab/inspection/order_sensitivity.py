"""Order sensitivity: how far apart a network's vectors are for two texts with the same words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from seqlab.core.errors import UsageError, listed
from seqlab.pages.notebook import sentences_and_table
from seqlab.runs.run import Run
from seqlab.tasks.vectors import step_vectors

RELATIVE_TOLERANCE = 1e-5
"""Differences of this share of the vectors' length come from adding float32 numbers in another order."""


@dataclass(frozen=True)
class OrderDistance:
    """The distance between two texts."""

    distance: float
    relative: float
    """As a share of the mean length of the two vectors."""

    @property
    def is_same(self) -> bool:
        """Whether the two differ only by rounding."""
        return self.relative < RELATIVE_TOLERANCE

    def _repr_html_(self) -> str:
        verdict = (
            "the same up to rounding: word order has no effect"
            if self.is_same
            else "word order has an effect"
        )
        return sentences_and_table(
            type(self).__name__, [verdict], [{"distance": self.distance, "relative": self.relative}]
        )


def order_distance(run: Run, text: str, reordered: str = "") -> OrderDistance:
    """The distance of two texts in the network of a run: between the pooled vectors of a classifier, or
    between mean vectors.

    reordered: the words of `text` in another order; reversed by default.
    """
    reordered = reordered or " ".join(reversed(text.split()))
    first, second = run.codec.encode([text, reordered])
    bags = [Counter(run.codec.pieces(steps)) for steps in (first, second)]
    if bags[0] != bags[1]:
        differing = sorted((bags[0] - bags[1]) + (bags[1] - bags[0]))
        raise UsageError(
            f"the two texts do not contain the same words: they differ in {listed(differing)}.",
            cure="Pass the same words in a different order.",
        )
    return vector_distance(
        _pooled(run, step_vectors(run.model, first)), _pooled(run, step_vectors(run.model, second))
    )


def vector_distance(first: Float[np.ndarray, "hidden"], second: Float[np.ndarray, "hidden"]) -> OrderDistance:
    distance = float(np.linalg.norm(first.astype(np.float64) - second))
    length = float(np.linalg.norm(first) + np.linalg.norm(second)) / 2
    return OrderDistance(distance, distance / max(length, 1e-12))


@torch.inference_mode()
def _pooled(run: Run, features: Float[np.ndarray, "time hidden"]) -> Float[np.ndarray, "hidden"]:
    pool = getattr(run.model, "pool", None)
    if not isinstance(pool, torch.nn.Module):
        return np.asarray(features.mean(axis=0))
    steps = torch.from_numpy(features).to(next(run.model.parameters())).unsqueeze(0)
    is_token = torch.ones(steps.shape[:2], dtype=torch.bool, device=steps.device)
    return np.asarray(pool(steps, is_token)[0].flatten().float().cpu().numpy())
