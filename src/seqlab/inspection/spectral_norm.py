"""The spectral norm: the largest factor by which a matrix can stretch a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqlab.inspection.step_order import Array


def spectral_norm(matrix: Float[Array, "*batch rows columns"]) -> Float[Array, "*batch"]:
    """‖A‖ = max ‖A v‖ / ‖v‖ = the largest singular value. NaN for a matrix that has NaNs.

    >>> float(spectral_norm(np.array([[3.0, 0.0], [0.0, -4.0]])))
    4.0
    """
    is_number = np.isfinite(matrix).all(axis=(-2, -1))
    norms = np.linalg.norm(np.where(is_number[..., None, None], matrix, 0.0), ord=2, axis=(-2, -1))
    return np.where(is_number, norms, np.nan)


def root_of_largest_eigenvalue(matrix: Float[Array, "rows columns"]) -> float:
    """√λ_max(AᵀA): the same number computed differently."""
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(matrix.T @ matrix)[-1])))


@dataclass(frozen=True)
class ProductNorm:
    """‖A B C …‖ is never more than ‖A‖ ‖B‖ ‖C‖ …"""

    norm_of_product: float
    product_of_norms: float


def product_norm(matrices: Sequence[Float[Array, "size size"]]) -> ProductNorm:
    """Both sides of the inequality, for matrices multiplied in the order given."""
    product = matrices[0] if len(matrices) == 1 else np.linalg.multi_dot(matrices)
    return ProductNorm(
        float(spectral_norm(product)), float(np.prod([spectral_norm(matrix) for matrix in matrices]))
    )
