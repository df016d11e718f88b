"""What every score is: how well a query and a key fit, as one number for each pair."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError
from seqlab.core.registry import Registry


class Score(nn.Module, ABC):
    """score(q, k) for every query and every key. A score only scores: masks, weights and sums stand in `normalising` and `attend`.

    What a score does to the keys alone is apart (`read`), so that many queries, step after step, can be compared with keys read once.
    """

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.key_size = key_size

    def forward(self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source key"]) -> Float[Tensor, "batch target source"]:
        return self.compare(queries, self.read(keys))

    def read(self, keys: Float[Tensor, "batch source key"]) -> Float[Tensor, "batch source read"]:
        """The keys as this score compares them: once for all queries."""
        self._check("keys", keys.shape[-1], self.key_size)
        return self.prepare(keys)

    def compare(self, queries: Float[Tensor, "batch target query"], read: Float[Tensor, "batch source read"]) -> Float[Tensor, "batch target source"]:
        """The scores of queries with keys that were read."""
        self._check("queries", queries.shape[-1], self.query_size)
        return self.energies(queries, read)

    def prepare(self, keys: Float[Tensor, "batch source key"]) -> Float[Tensor, "batch source read"]:
        """The part of the equation that sees only the keys; none, unless a score says otherwise."""
        return keys

    @abstractmethod
    def energies(
        self, queries: Float[Tensor, "batch target query"], read: Float[Tensor, "batch source read"]
    ) -> Float[Tensor, "batch target source"]:
        """The rest of the equation."""

    def _check(self, what: str, found: int, wanted: int) -> None:
        if found != wanted:
            raise UsageError(
                f"{what} of width {found}, but this {type(self).__name__} was built for {what} of width {wanted}.",
                cure=f"Build {type(self).__name__}(query_size, key_size) with the widths of what it will compare, or project the {what} first.",
            )

    def extra_repr(self) -> str:
        return f"{self.query_size}, {self.key_size}"


def must_be_equal(score: str, query_size: int, key_size: int) -> int:
    """The width that queries and keys share, for scores that multiply the two."""
    if query_size != key_size:
        raise UsageError(
            f"the score '{score}' multiplies queries and keys feature by feature, but queries have width {query_size} and keys {key_size}.",
            cure="Use the score general, additive or concat, which take any two widths, or project the keys to the queries' width.",
        )
    return query_size


scores: Registry[type[Score]] = Registry("score", package="seqlab.attention")
