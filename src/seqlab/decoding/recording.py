"""A beam search over one source, with the tree of all that it looked at."""

from __future__ import annotations

import torch
from jaxtyping import Shaped
from torch import Tensor

from seqlab.decoding.batched import padded
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Translator
from seqlab.decoding.search import Sources
from seqlab.decoding.search_tree import SearchTree, Watch


def record_search(
    model: Translator,
    source: Shaped[Tensor, "source *features"],
    search: BeamSearch,
    *,
    num_pruned: int | None = None,
    device: torch.device | None = None,
) -> tuple[list[Hypothesis], SearchTree]:
    """The targets, as without being watched, and the tree. At every step the best `num_pruned` that were not kept are in it, by default
    as many as are kept."""
    watch = Watch(num_pruned=search.width if num_pruned is None else num_pruned)
    (answers,) = search.watched(model, Sources.of(*padded([source], device=device)), watch)
    return answers, watch.tree(answers)
