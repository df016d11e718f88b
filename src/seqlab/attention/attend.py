"""Attention: queries get a weighted sum of the values of a source."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.base import ScoreFunction
from seqlab.attention.local import QueryPositions, Window
from seqlab.attention.normalization import Normalizer, SoftmaxNormalizer
from seqlab.attention.recording import RecordableAttention

MayAttend = Bool[Tensor, "#batch #target source"]


class ProjectedSource(NamedTuple):
    """A source prepared for any number of queries: keys as the score reads them, and values."""

    keys: Float[Tensor, "batch source projected"]
    values: Float[Tensor, "batch source value"]


class Attention(RecordableAttention):
    """alignment = normalize(score(q, k)) over the visible source steps; context = Σ_s alignment_s v_s.

    Without projections the keys, such as the states of an encoder, are also the values. With `key` and
    `value` both are projections of the source: k = W_k h, v = W_v h.

    score: any of `scores`. normalizer: turns scores into attention weights: SoftmaxNormalizer (the default),
    HardmaxNormalizer, Sparsemax, Entmax. window: local attention to the steps around one position; None
    attends to all.
    """

    def __init__(
        self,
        score: ScoreFunction,
        *,
        normalizer: Normalizer | None = None,
        key: nn.Module | None = None,
        value: nn.Module | None = None,
        window: Window | None = None,
    ) -> None:
        super().__init__()
        self.score = score
        self.normalizer = normalizer or SoftmaxNormalizer()
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
        query_positions: QueryPositions | None = None,
    ) -> tuple[Float[Tensor, "batch target value"], Float[Tensor, "batch target source"]]:
        """The context of each query, and its alignment.

        Values default to `keys`.
        """
        return self.attend(
            queries, self.project_source(keys, values), may_attend, query_positions=query_positions
        )

    def project_source(
        self, keys: Float[Tensor, "batch source _"], values: Float[Tensor, "batch source _"] | None = None
    ) -> ProjectedSource:
        """Compute everything that does not depend on the query once, before calling `attend` at every
        step.
        """
        return ProjectedSource(
            self.score.prepare_keys(self.key(keys)), self.value(keys if values is None else values)
        )

    def attend(
        self,
        queries: Float[Tensor, "batch target query"],
        source: ProjectedSource,
        may_attend: MayAttend | None = None,
        *,
        query_positions: QueryPositions | None = None,
    ) -> tuple[Float[Tensor, "batch target value"], Float[Tensor, "batch target source"]]:
        alignment = self._compute_alignment(queries, source.keys, may_attend, query_positions)
        if self.alignment_hook is not None:
            self.alignment_hook(alignment.unsqueeze(1))  # one head
        return alignment @ source.values, alignment

    def _compute_alignment(
        self,
        queries: Float[Tensor, "batch target query"],
        keys: Float[Tensor, "batch source projected"],
        may_attend: MayAttend | None,
        query_positions: QueryPositions | None,
    ) -> Float[Tensor, "batch target source"]:
        scores = self.score.compute_scores(queries, keys)
        if self.window is None:
            return self.normalizer(scores, may_attend)
        if may_attend is None:
            may_attend = torch.ones(1, 1, keys.shape[1], dtype=torch.bool, device=keys.device)
        near, factor = self.window(queries, may_attend, query_positions)
        alignment = self.normalizer(scores, near)
        return alignment if factor is None else alignment * factor
