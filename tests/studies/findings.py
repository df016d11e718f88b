"""Quick runs of the studies, each made once and shared by all tests that read it."""

from __future__ import annotations

from functools import cache

import torch

from seqlab.studies.base import Finding, studies

CHEAP = (
    "analogies",
    "attention_costs",
    "attention_steps",
    "gru_or_lstm",
    "self_similarity",
    "score_scale",
    "vanishing",
    "weight_sharing",
)
"""Studies that compute instead of training, and one short training. Tests of the others are long."""


@cache
def quick(name: str, seed: int = 0) -> Finding:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return studies.get(name)(seed=seed, quick=True)
    finally:
        torch.set_num_threads(threads)
