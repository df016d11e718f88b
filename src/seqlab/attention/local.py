"""Local attention: a query attends to the source steps around one position.

Paper: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation",
arXiv:1508.04025, section 3.2. Positions start at 0. Without a window, attention is global.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.core.errors import UsageError

QueryPositions = Int[Tensor, "#batch target"] | Float[Tensor, "#batch target"]


class Window(nn.Module, ABC):
    """Which source steps are near a query's position, and how much each is weighted by its distance.

    reach: D, the number of visible source steps on either side.
    """

    def __init__(self, *, reach: int) -> None:
        super().__init__()
        if reach < 1:
            raise UsageError(
                f"reach is {reach}.",
                cure="The window needs at least one source step on either side: reach=1 or more.",
            )
        self.reach = reach

    def forward(
        self,
        queries: Float[Tensor, "batch target query"],
        may_attend: Bool[Tensor, "#batch #target source"],
        query_positions: QueryPositions | None = None,
    ) -> tuple[Bool[Tensor, "#batch target source"], Float[Tensor, "#batch target source"] | None]:
        """Which source steps are in the window and visible, and a factor on their weights, or None for 1.

        `query_positions` are the positions of the queries, for a window that does not predict them.
        """
        sources = torch.arange(may_attend.shape[-1], device=may_attend.device)
        lengths = ((sources + 1) * may_attend).amax(
            dim=-1
        )  # (batch, target): the end of each query's own sentence
        distance = sources - self.centers(queries, lengths, query_positions).unsqueeze(
            -1
        )  # (batch, target, source)
        return may_attend & (distance.abs() <= self.reach), self.factors(distance)

    @abstractmethod
    def centers(
        self,
        queries: Float[Tensor, "batch target query"],
        lengths: Int[Tensor, "#batch #target"],
        query_positions: QueryPositions | None,
    ) -> QueryPositions:
        """The position that each query attends to."""

    def factors(self, distance: Tensor) -> Float[Tensor, "#batch target source"] | None:
        return None


class MonotonicWindow(Window):
    """The t-th query attends to the source steps from t - D to t + D ("local-m"); `query_positions`
    replaces t.
    """

    def centers(
        self,
        queries: Float[Tensor, "batch target query"],
        lengths: Int[Tensor, "#batch #target"],
        query_positions: QueryPositions | None,
    ) -> QueryPositions:
        return (
            torch.arange(queries.shape[1], device=queries.device).unsqueeze(0)
            if query_positions is None
            else query_positions
        )


class PredictedWindow(Window):
    """Each query predicts its position, and nearer source steps have more weight ("local-p").

        place  = length · σ(v · tanh(W query))
        factor = exp(-(source - place)² / (2 σ²)),  σ = D / 2

    The length is that of the query's own sentence. The factor is applied after the softmax, so the weights
    sum to less than 1; its gradient trains the position. hidden_size: width of the inner layer; 0 means the
    width of the queries.
    """

    def __init__(self, query_size: int, *, reach: int, hidden_size: int = 0) -> None:
        super().__init__(reach=reach)
        self.inner = nn.Linear(query_size, hidden_size or query_size, bias=False)
        self.outer = nn.Linear(hidden_size or query_size, 1, bias=False)

    def centers(
        self,
        queries: Float[Tensor, "batch target query"],
        lengths: Int[Tensor, "#batch #target"],
        query_positions: QueryPositions | None,
    ) -> QueryPositions:
        return lengths * torch.sigmoid(self.outer(torch.tanh(self.inner(queries)))).squeeze(-1)

    def factors(self, distance: Tensor) -> Float[Tensor, "#batch target source"]:
        return torch.exp(-distance.square() / (2 * (self.reach / 2) ** 2))
