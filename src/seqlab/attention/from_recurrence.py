"""From gated recurrence to attention in five steps, each a small function of tensors.

    0  state_t = keep_t ⊙ state_{t-1} + (1 - keep_t) ⊙ candidate_t            the recurrence
    1  state_t = Σ_i weight_{t,i} ⊙ candidate_i                                the same sum; the weights depend on each other through the gates
    2  weight_{t,i} = softmax_i(score_{t,i})                                   free weights: each step scores each candidate
    3  candidate_i = f(x_i)                                                    free candidates: no step waits for the one before
    4  state_t = Σ_i softmax_i(query_t · key_i / √size) value_i                separate keys and values
    5  state_t = [head_1; … ; head_n]                                          several such sums concatenated

Causal sums run over i ≤ t, full ones over all i. Each step contains the previous one as a special case; the
tests show which. Paper: the last form is Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762,
section 3.2.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def gated_recurrence(
    keep: Float[Tensor, "batch time hidden"], candidates: Float[Tensor, "batch time hidden"]
) -> Float[Tensor, "batch time hidden"]:
    """Step 0: state_t = keep_t ⊙ state_{t-1} + (1 - keep_t) ⊙ candidate_t, from state 0."""
    state = torch.zeros_like(candidates[:, 0])
    states = []
    for kept, candidate in zip(keep.unbind(dim=1), candidates.unbind(dim=1), strict=True):
        state = kept * state + (1 - kept) * candidate
        states.append(state)
    return torch.stack(states, dim=1)


def dependent_weights(
    keep: Float[Tensor, "batch time hidden"], *, causal: bool = True
) -> Float[Tensor, "batch time time hidden"]:
    """Step 1: weight_{t,i} = (1 - keep_i) ⊙ Π_{j = i+1 … t} keep_j for i ≤ t, unit by unit.

    A row sums to 1 - Π keep_j, or to 1 if the first step keeps nothing. Full: the mean of a forward scan and
    a backward scan, as in a bidirectional recurrent network.
    """
    if not causal:
        backward = dependent_weights(keep.flip(1)).flip(1, 2)
        return (dependent_weights(keep) + backward) / 2
    row = torch.zeros_like(keep)
    rows = []
    for time, kept in enumerate(keep.unbind(dim=1)):
        is_now = (torch.arange(keep.shape[1], device=keep.device) == time).view(1, -1, 1)
        row = torch.where(is_now, (1 - kept).unsqueeze(1), row * kept.unsqueeze(1))
        rows.append(row)
    return torch.stack(rows, dim=1)


def weighted_sum(
    weights: Float[Tensor, "batch target source #hidden"], candidates: Float[Tensor, "batch source hidden"]
) -> Float[Tensor, "batch target hidden"]:
    """state_t = Σ_i weight_{t,i} ⊙ candidate_i; one weight for all units, or one for each."""
    return (weights * candidates.unsqueeze(1)).sum(dim=2)


def free_weights(
    scores: Float[Tensor, "batch time time units"], *, causal: bool = True
) -> Float[Tensor, "batch time time units"]:
    """Step 2: softmax over the visible candidates.

    It can represent any weights that sum to 1: score = log weight.
    """
    if causal:
        is_future = torch.ones(scores.shape[1:3], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(is_future.unsqueeze(-1), -torch.inf)
    return scores.softmax(dim=2)


def recurrent_candidates(
    inputs: Float[Tensor, "batch time input"],
    keep: Float[Tensor, "batch time hidden"],
    weight: Float[Tensor, "hidden input"],
    recurrent: Float[Tensor, "hidden hidden"],
) -> Float[Tensor, "batch time hidden"]:
    """candidate_t = tanh(W x_t + U state_{t-1}), with the states that result from `keep`, as in a
    recurrent cell.
    """
    state = inputs.new_zeros(len(inputs), weight.shape[0])
    candidates = []
    for step, kept in zip(inputs.unbind(dim=1), keep.unbind(dim=1), strict=True):
        candidates.append(torch.tanh(step @ weight.T + state @ recurrent.T))
        state = kept * state + (1 - kept) * candidates[-1]
    return torch.stack(candidates, dim=1)


def free_candidates(
    inputs: Float[Tensor, "batch time input"], weight: Float[Tensor, "hidden input"]
) -> Float[Tensor, "batch time hidden"]:
    """Step 3: candidate_i = tanh(W x_i), all of them at once."""
    return torch.tanh(F.linear(inputs, weight))


def key_value_attention(
    queries: Float[Tensor, "batch target head"],
    keys: Float[Tensor, "batch source head"],
    values: Float[Tensor, "batch source hidden"],
    *,
    causal: bool = True,
) -> Float[Tensor, "batch target hidden"]:
    """Step 4: separate keys (for the scores) and values (for the sum)."""
    scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5  # (batch, target, source)
    return weighted_sum(free_weights(scores.unsqueeze(-1), causal=causal), values)


def multi_head_attention(
    queries: Float[Tensor, "batch target hidden"],
    keys: Float[Tensor, "batch source hidden"],
    values: Float[Tensor, "batch source wide"],
    *,
    num_heads: int,
    causal: bool = True,
) -> Float[Tensor, "batch target wide"]:
    """Step 5: the features are split into heads, each head attends separately, and the results are
    concatenated.
    """
    parts = zip(*[tensor.chunk(num_heads, dim=-1) for tensor in (queries, keys, values)], strict=True)
    return torch.cat([key_value_attention(*part, causal=causal) for part in parts], dim=-1)
