"""Reorder the numbers of a padded batch by distance from the last step of each sequence's scan, with NaN
for missing steps.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork

Array = np.ndarray


def to_numpy(tensor: Tensor) -> Float[Array, "..."]:
    """Detached numbers in double precision, so that sums do not lose accuracy."""
    return tensor.detach().double().cpu().numpy()


def mask_padding(
    values: Float[Array, "batch time *rest"], unrolled: UnrolledNetwork
) -> Float[Array, "batch time *rest"]:
    """Set the padding to NaN."""
    is_token: Bool[Array, "batch time"] = unrolled.is_token.cpu().numpy()
    return np.where(is_token.reshape(*is_token.shape, *[1] * (values.ndim - 2)), values, np.nan)


def order_by_distance(
    values: Float[Array, "batch time *rest"], unrolled: UnrolledNetwork, trace: DirectionTrace
) -> Float[Array, "batch distance *rest"]:
    """Index d of a sequence becomes the step that is d steps before the last step of its scan."""
    ordered = np.full_like(values, np.nan)
    for row, length in enumerate(unrolled.lengths):
        steps = values[row, :length]
        ordered[row, :length] = steps if trace.reverse else steps[::-1]
    return ordered
