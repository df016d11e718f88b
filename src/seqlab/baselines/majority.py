"""Classifier that always predicts the most frequent class of the training data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.core.errors import UsageError


@dataclass(frozen=True)
class MajorityClass:
    """label = argmax_c count(c); ties go to the lowest id."""

    frequencies: Float[np.ndarray, " classes"]

    @classmethod
    def fit(cls, label_ids: Iterable[int], *, num_classes: int) -> MajorityClass:
        counts = np.bincount(np.fromiter(label_ids, dtype=np.int64), minlength=num_classes)
        if counts.sum() == 0:
            raise UsageError(
                "the most frequent label is undefined without labels.",
                cure="Fit the baseline on at least one example.",
            )
        return cls(counts / counts.sum())

    @property
    def label_id(self) -> int:
        return int(self.frequencies.argmax())

    def predict(self, num_examples: int) -> Int[np.ndarray, " examples"]:
        """The same class for every example."""
        return np.full(num_examples, self.label_id)
