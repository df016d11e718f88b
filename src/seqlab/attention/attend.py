"""Queries look at a source and get a weighted sum of its values."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.base import Score
from seqlab.attention.local import Places, Window
from seqlab.attention.normalization import Normaliser, Soft
from seqlab.attention.recording import Watched

MayAttend = Bool[Tensor, "#batch #target source"]


class Source(NamedTuple):
    """What is looked at, ready for any number of queries: keys as the score reads them, and values."""

    keys: Float[Tensor, "batch source read"]
    values: Float[Tensor, "batch source value"]


class Attention(Watched):
    """alignment = normalise(score(q, k)) over the sources that may be attended to;  context = Σ_s alignment_s v_s.

    Without projections the keys are also the values, such as the states of an encoder. With `key` and `value` both are made from
    what is looked at: k = W_k h, v = W_v h.

    score: how well a query and a key fit; any of `scores`.
    normaliser: how scores become weights: Soft (the default), Hard, Sparsemax, Entmax.
    window: local attention, to the sources around one place; None looks at all.
    """

    def __init__(
        self,
        score: Score,
        *,
        normaliser: Normaliser | None = None,
        key: nn.Module | None = None,
        value: nn.Module | None = None,
        window: Window | None = None,
    ) -> None:
        super().__init__()
        self.score = score
        self.normaliser = normaliser or Soft()
        self.key = key or nn.Identity()
        self.value = value or nn.Identity()
        self.window = window

    def forward(
        self,
        queries: Float[Tensor, "batch target query"],
        keys: Float[Tensor, "batch source _"],
        values: Float[Tensor, "batch source _"] | None = None,
        may_attend: MayAttend | None = None,
        *,
        places: Places | None = None,
    ) -> tuple[Float[Tensor, "batch target value"], Float[Tensor, "batch target source"]]:
        """The context of each query, and its alignment. Values come from `keys` when there are none of their own."""
        return self.look(queries, self.read(keys, values), may_attend, places=places)

    def read(self, keys: Float[Tensor, "batch source _"], values: Float[Tensor, "batch source _"] | None = None) -> Source:
        """The part of the work that no query changes: do it once, then `look` at every step."""
        return Source(self.score.read(self.key(keys)), self.value(keys if values is None else values))

    def look(
        self, queries: Float[Tensor, "batch target query"], source: Source, may_attend: MayAttend | None = None, *, places: Places | None = None
    ) -> tuple[Float[Tensor, "batch target value"], Float[Tensor, "batch target source"]]:
        alignment = self._align(queries, source.keys, may_attend, places)
        if self.watch is not None:
            self.watch(alignment.unsqueeze(1))  # one head
        return alignment @ source.values, alignment

    def _align(
        self,
        queries: Float[Tensor, "batch target query"],
        keys: Float[Tensor, "batch source read"],
        may_attend: MayAttend | None,
        places: Places | None,
    ) -> Float[Tensor, "batch target source"]:
        scores = self.score.compare(queries, keys)
        if self.window is None:
            return self.normaliser(scores, may_attend)
        if may_attend is None:
            may_attend = torch.ones(1, 1, keys.shape[1], dtype=torch.bool, device=keys.device)
        near, factor = self.window(queries, may_attend, places)
        alignment = self.normaliser(scores, near)
        return alignment if factor is None else alignment * factor
