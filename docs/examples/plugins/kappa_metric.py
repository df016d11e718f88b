"""A metric of your own: Cohen's kappa, the agreement beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from seqlab import register
from seqlab.metrics.metric import Answer, Metric


@register.metric("cohen_kappa")
class CohenKappa(Metric):
    """Cohen's kappa of the true and the predicted classes.

    kappa = (observed - expected) / (1 - expected)

    observed: share of items on which both agree; expected: the same for two raters who choose their classes
    independently, as often as they do here. Cohen 1960, "A Coefficient of Agreement for Nominal Scales".
    """

    def value(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> float:
        num_items = len(truths)
        observed = (
            sum(truth == prediction for truth, prediction in zip(truths, predictions, strict=True))
            / num_items
        )
        true_counts, predicted_counts = Counter(truths), Counter(predictions)
        expected = sum(count * predicted_counts[label] for label, count in true_counts.items()) / num_items**2
        return (observed - expected) / (1 - expected) if expected < 1 else 1.0
