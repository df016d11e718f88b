"""A beam search over one source that records its search tree."""

from __future__ import annotations

import torch
from jaxtyping import Shaped
from torch import Tensor

from seqlab.decoding.batched_decoding import pad_sources
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prepared_decoder import DecodableModel, parameter_device, step_model
from seqlab.decoding.search import SourceBatch
from seqlab.decoding.search_tree import SearchRecorder, SearchTree


def record_search(
    model: DecodableModel,
    source: Shaped[Tensor, "source *features"],
    search: BeamSearch,
    *,
    num_pruned: int | None = None,
    device: torch.device | None = None,
) -> tuple[list[Hypothesis], SearchTree]:
    """The targets, identical to an unrecorded search, and the tree.

    The tree includes the best `num_pruned` pruned candidates of every step, by default as many as are kept.
    """
    recorder = SearchRecorder(num_pruned=search.group_size if num_pruned is None else num_pruned)
    (answers,) = search.run_recorded(
        step_model(model),
        SourceBatch.from_tokens(*pad_sources([source], device=device or parameter_device(model))),
        recorder,
    )
    return answers, recorder.tree(answers)
