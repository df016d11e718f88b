"""Numbers of a padded batch, put in each sequence's own order: how far back from the end of its walk, with
NaN where there is no such step.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork

Array = np.ndarray


def to_numpy(tensor: Tensor) -> Float[Array, "..."]:
    """The numbers alone, in double precision: sums over them should not lose what the network had."""
    return tensor.detach().double().cpu().numpy()


def mask_padding(
    values: Float[Array, "batch time *rest"], unrolled: UnrolledNetwork
) -> Float[Array, "batch time *rest"]:
    """NaN in the padding: there is no step to have a value."""
    is_token: Bool[Array, "batch time"] = unrolled.is_token.cpu().numpy()
    return np.where(is_token.reshape(*is_token.shape, *[1] * (values.ndim - 2)), values, np.nan)


def order_by_distance(
    values: Float[Array, "batch time *rest"], unrolled: UnrolledNetwork, trace: DirectionTrace
) -> Float[Array, "batch distance *rest"]:
    """Place d of a sequence becomes the step that lies d steps before the end of its walk."""
    ordered = np.full_like(values, np.nan)
    for row, length in enumerate(unrolled.lengths):
        steps = values[row, :length]
        ordered[row, :length] = steps if trace.reverse else steps[::-1]
    return ordered
