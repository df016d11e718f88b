"""What a reader of a model card should know before relying on the model."""

from __future__ import annotations

from typing import Any

SMALL_TEST = 200
"""Test rows below which a score says little: the 95% CI of an accuracy of 0.9 is then wider than 0.08."""
RARE = 10
"""Training rows below which a label is hardly learned."""


def known_limits(raw: dict[str, Any], split: str) -> list[str]:
    """Sentences from the data and the warnings of a run; the last one is always true."""
    parts = raw["data"]
    return [
        *_small_test(parts, split),
        *_rare_labels(parts["train"]),
        *_lengths(parts["train"]),
        *(warning[:1].upper() + warning[1:] for warning in raw["warnings"]),
        (
            "The scores hold for data like the held-out part of this data set. Other sources, times, topics or"
            " languages were not tested."
        ),
    ]


def _small_test(parts: dict[str, Any], split: str) -> list[str]:
    rows = parts.get(split, {}).get("rows", 0)
    if not 1 < rows < SMALL_TEST:
        return []
    return [f"The {split} split has only {rows:,} rows: small differences between models are noise."]


def _rare_labels(train: dict[str, Any]) -> list[str]:
    rare = [label for label, count in train["labels"].items() if count < RARE]
    if not rare:
        return []
    shown = ", ".join(label[:40] for label in rare[:5])
    return [f"Labels with fewer than {RARE} training rows: {shown}{', …' if len(rare) > 5 else ''}."]


def _lengths(train: dict[str, Any]) -> list[str]:
    """The lengths that the model has seen."""
    return [
        f"99% of the training texts have at most {spread['ninety_ninth']:,} {unit} (the longest"
        f" {spread['largest']:,}); longer texts were not seen."
        for unit, spread in list(train["lengths"].items())[:1]
        if train["rows"] > 1
    ]
