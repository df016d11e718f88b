"""The state of an additive update as one weighted sum: the implicit attention of gated recurrence.

    hidden_t = keep_t ⊙ hidden_{t-1} + (1 - keep_t) ⊙ candidate_t
             = Π_{j<=t} keep_j ⊙ hidden_0  +  Σ_{i<=t} (1 - keep_i) ⊙ Π_{i<j<=t} keep_j ⊙ candidate_i

The lecture this comes from prints different index ranges (`printed_weights`), with which the sum is not the
state.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class UnrolledWeights(NamedTuple):
    """The weights of the initial state and of every step's candidate in a state; with write = 1 - keep they
    sum to 1.
    """

    initial: Tensor
    candidates: Tensor


def unrolled_weights(
    keep: Float[Tensor, "time *rest"], write: Float[Tensor, "time *rest"] | None = None
) -> UnrolledWeights:
    """The weights in the last state: initial (*rest), candidates (time, *rest).

    Products run from the last step to the first, so over many steps they underflow to zero without a division
    by zero.

    write: the gate of the candidates if it is not 1 - keep (an LSTM's cell state).

    >>> initial, candidates = unrolled_weights(torch.tensor([0.5, 0.5]))
    >>> initial.item(), candidates.tolist()
    (0.25, [0.25, 0.5])
    """
    write = 1 - keep if write is None else write
    products = keep.flip(0).cumprod(0).flip(0)  # Π_{j>=i} keep_j
    later = torch.cat([products[1:], torch.ones_like(keep[:1])])  # Π_{j>i} keep_j
    return UnrolledWeights(products[0], write * later)


def unrolled_weights_per_step(
    keep: Float[Tensor, "time *rest"], write: Float[Tensor, "time *rest"] | None = None
) -> UnrolledWeights:
    """The weights in all states: initial (time, *rest), candidates (time, time, *rest), where the second axis
    is the candidate's step.
    """
    write = 1 - keep if write is None else write
    rows: list[Tensor] = []
    row = torch.zeros_like(keep)
    for t, (kept, written) in enumerate(zip(keep.unbind(0), write.unbind(0), strict=True)):
        row = torch.cat([row[:t] * kept, written.unsqueeze(0), row[t + 1 :]])
        rows.append(row)
    return UnrolledWeights(keep.cumprod(0), torch.stack(rows))


def printed_weights(keep: Float[Tensor, "time *rest"]) -> Float[Tensor, "time *rest"]:
    """The weights of the candidates in the last state T as the lecture prints them. They are wrong and kept
    for comparison.

        (Π_{j=i..T-i+1} keep_j) ⊙ (Π_{k=1..i-1} (1 - keep_k))        for i = 1..T, an empty product being 1

    The first product should run over the steps after i, and of the second only the single factor 1 - keep_i
    belongs there.
    """
    last = len(keep)
    weights = [keep[i - 1 : last - i + 1].prod(0) * (1 - keep[: i - 1]).prod(0) for i in range(1, last + 1)]
    return torch.stack(weights)
