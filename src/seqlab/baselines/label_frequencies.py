"""Multi-label classifier that predicts the frequency of each label in the training data,
whatever the input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqlab.core.errors import UsageError


@dataclass(frozen=True)
class LabelFrequencies:
    """p(label) = examples with the label / examples."""

    frequencies: Float[np.ndarray, " labels"]

    @classmethod
    def fit(cls, targets: Bool[np.ndarray, "examples labels"]) -> LabelFrequencies:
        if not len(targets):
            raise UsageError(
                "label frequencies need at least one label.",
                cure="Fit the baseline on at least one example.",
            )
        return cls(targets.mean(axis=0))

    def predict_proba(self, num_examples: int) -> Float[np.ndarray, "examples labels"]:
        """The same for every example."""
        return np.tile(self.frequencies, (num_examples, 1))
