"""The cache folder for what is slow to rebuild: encoded corpora, native kernels, tables."""

from __future__ import annotations

import os
from pathlib import Path

CHOOSE_ANOTHER = "Set the environment variable SEQLAB_CACHE to a folder that you own."


def cache_folder() -> Path:
    """Where encoded corpora are kept: $SEQLAB_CACHE, or seqlab's folder in the user's cache."""
    if chosen := os.environ.get("SEQLAB_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqlab"
