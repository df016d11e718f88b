"""Scaled dot-product score: q · k / √d."""

from __future__ import annotations

import math
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from seqlab.attention.base import ScoreFunction, require_equal_sizes, score_functions
from seqlab.core.errors import UsageError

Divisor = Literal["sqrt", "size", "none"] | float


@score_functions.register("scaled_dot")
class ScaledDotScore(ScoreFunction):
    """The dot product of query and key, divided by the square root of their width d.

        score(q, k) = q · k / divisor,      divisor = √d

    divisor: "sqrt" for √d, the form of the paper; "size" for d itself, as some lectures print it; "none" for
    the plain product; or a number, such as √(head size) if a head is displayed with fewer features than it
    has. Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.2.1.

    The queries are divided, not the scores: target * d divisions instead of target * source.
    """

    def __init__(self, query_size: int, key_size: int, *, divisor: Divisor = "sqrt") -> None:
        super().__init__(require_equal_sizes("scaled_dot", query_size, key_size), key_size)
        self.divisor = _number(divisor, query_size)

    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source query"]
    ) -> Float[Tensor, "batch target source"]:
        return (queries / self.divisor) @ keys.transpose(1, 2)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, divisor={self.divisor:g}"


def _number(divisor: Divisor, size: int) -> float:
    """
    >>> [_number("sqrt", 16), _number("size", 16), _number("none", 16), _number(8, 16)]
    [4.0, 16.0, 1.0, 8.0]
    """
    known = {"sqrt": math.sqrt(size), "size": float(size), "none": 1.0}
    if isinstance(divisor, str) and divisor in known:
        return known[divisor]
    if isinstance(divisor, str) or not 0 < divisor < math.inf:
        raise UsageError(f"divisor is {divisor!r}.", cure="Use 'sqrt', 'size', 'none' or a positive number.")
    return float(divisor)
