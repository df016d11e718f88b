"""The names of splits in other libraries and in files, and seqlab's names for them."""

from __future__ import annotations

SPLITS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
    "testing": "test",
}
