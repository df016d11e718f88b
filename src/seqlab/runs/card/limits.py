"""Known limits of a model, for its model card."""

from __future__ import annotations

from typing import Any

SMALL_TEST = 200
"""With fewer test rows, a score is imprecise: the 95% CI of an accuracy of 0.9 is wider than 0.08."""
RARE = 10
"""With fewer training rows, a label is hardly learned."""


def known_limits(raw: dict[str, Any], split: str) -> list[str]:
    """Return sentences from the data and the warnings of a run; the last one applies to every model."""
    parts = raw["data"]
    return [
        *_small_test(parts, split),
        *_rare_labels(parts["train"]),
        *_lengths(parts["train"]),
        *(warning[:1].upper() + warning[1:] for warning in raw["warnings"]),
        (
            "The scores hold for data similar to the held-out part of this dataset. Data from other sources, times,"
            " topics or languages was not tested."
        ),
    ]


def _small_test(parts: dict[str, Any], split: str) -> list[str]:
    rows = parts.get(split, {}).get("rows", 0)
    if not 1 < rows < SMALL_TEST:
        return []
    return [f"The {split} split has only {rows:,} rows, so small differences between models are noise."]


def _rare_labels(train: dict[str, Any]) -> list[str]:
    rare = [label for label, count in train["labels"].items() if count < RARE]
    if not rare:
        return []
    names = ", ".join(label[:40] for label in rare[:5])
    return [f"Labels with fewer than {RARE} training rows: {names}{', …' if len(rare) > 5 else ''}."]


def _lengths(train: dict[str, Any]) -> list[str]:
    """The input lengths in the training data."""
    return [
        f"99% of the training texts have at most {spread['ninety_ninth']:,} {unit} (maximum"
        f" {spread['largest']:,}); the model has not seen longer texts."
        for unit, spread in list(train["lengths"].items())[:1]
        if train["rows"] > 1
    ]
