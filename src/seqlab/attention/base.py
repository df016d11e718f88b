"""The interface of attention scores: one number for each pair of query and key."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.registry import score_functions as score_functions
from seqlab.core.errors import UsageError


class ScoreFunction(nn.Module, ABC):
    """score(q, k) for every query and every key. Masks, weights and sums are in `normalization` and `attend`.

    The part that depends only on the keys is separate (`prepare_keys`), so that keys are prepared once for
    the queries of all steps.
    """

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.key_size = key_size

    def forward(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source key"]
    ) -> Float[Tensor, "batch target source"]:
        return self.compute_scores(queries, self.prepare_keys(keys))

    def prepare_keys(
        self, keys: Float[Tensor, "batch source key"]
    ) -> Float[Tensor, "batch source projected"]:
        """Prepare the keys once for all queries."""
        self._check("keys", keys.shape[-1], self.key_size)
        return self.project_keys(keys)

    def compute_scores(
        self,
        queries: Float[Tensor, "batch target query"],
        prepared_keys: Float[Tensor, "batch source projected"],
    ) -> Float[Tensor, "batch target source"]:
        """The scores of queries with prepared keys."""
        self._check("queries", queries.shape[-1], self.query_size)
        return self.energies(queries, prepared_keys)

    def project_keys(
        self, keys: Float[Tensor, "batch source key"]
    ) -> Float[Tensor, "batch source projected"]:
        """The part of the equation that depends only on the keys; the identity by default."""
        return keys

    @abstractmethod
    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source projected"]
    ) -> Float[Tensor, "batch target source"]:
        """The rest of the equation."""

    def _check(self, what: str, size: int, expected: int) -> None:
        if size != expected:
            raise UsageError(
                f"{what} of width {size}, but this {type(self).__name__} was built for {what} of width"
                f" {expected}.",
                cure=(
                    f"Build {type(self).__name__}(query_size, key_size) with the widths of the tensors it"
                    f" compares, or project the {what} first."
                ),
            )

    def extra_repr(self) -> str:
        return f"{self.query_size}, {self.key_size}"


def require_equal_sizes(score: str, query_size: int, key_size: int) -> int:
    """The common width of queries and keys, for scores that multiply the two."""
    if query_size != key_size:
        raise UsageError(
            f"the score '{score}' multiplies queries and keys element-wise, but queries have width"
            f" {query_size} and keys {key_size}.",
            cure=(
                "Use the score general, additive or concat, which accept different widths, or project"
                " the keys to the width of the queries."
            ),
        )
    return query_size
