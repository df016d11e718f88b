"""Rotation matrices from unconstrained parameters: the exponential of any skew-symmetric matrix is
orthogonal.
"""

from __future__ import annotations

from math import ceil, factorial, isfinite, log2, pi

import torch
from jaxtyping import Float
from torch import Tensor

SMALL = 0.5
"""Norm below which sixteen terms of the series are exact in double precision: 0.5^16 / 16! < 1e-18."""


def rotation_matrix(angles: Float[Tensor, "angles"], size: int) -> Float[Tensor, "hidden hidden"]:
    """exp(A) of the skew-symmetric A (Aᵀ = -A) with these entries above its diagonal, row by row.

    Computed in double precision, so that the result is orthogonal to the last digit even in single precision.
    """
    above = torch.triu_indices(size, size, offset=1, device=angles.device)
    upper = angles.new_zeros(size, size, dtype=torch.float64).index_put((above[0], above[1]), angles.double())
    return matrix_exponential(upper - upper.T).to(angles.dtype)


def matrix_exponential(matrix: Float[Tensor, "hidden hidden"]) -> Float[Tensor, "hidden hidden"]:
    """exp(A) = (Σ_{k<16} (A / 2^n)^k / k!)^(2^n), with n such that A / 2^n is small.

    torch.linalg.matrix_exp gives the same numbers, but its gradient exponentiates a matrix of twice the size;
    autograd through these few products takes a fourth of the time.
    """
    norm = float(matrix.detach().abs().sum(dim=0).max())
    if not isfinite(norm):
        return matrix * float("nan")
    halvings = max(0, ceil(log2(norm / SMALL))) if norm else 0
    first = matrix / 2**halvings
    second = first @ first
    powers = [torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device), first, second, first @ second]
    fourth = second @ second
    result = torch.zeros_like(matrix)
    for begin in (12, 8, 4, 0):  # Horner's rule in the fourth power: three products instead of fourteen
        part = sum(
            (power / factorial(begin + k) for k, power in enumerate(powers)), start=torch.zeros_like(matrix)
        )
        result = part if begin == 12 else part + result @ fourth
    for _ in range(halvings):
        result = result @ result
    return result


@torch.no_grad()
def init_pair_rotations_(angles: Float[Tensor, "angles"], size: int) -> None:
    """Initialize as rotations of the unit pairs (0, 1), (2, 3), ... by angles uniform in ±π; the entries of
    all other pairs are zero.
    """
    upper = torch.zeros(size, size)
    pairs = torch.arange(0, size - 1, 2)
    upper[pairs, pairs + 1] = torch.empty(len(pairs)).uniform_(-pi, pi)
    above = torch.triu_indices(size, size, offset=1)
    angles.copy_(upper[above[0], above[1]])
