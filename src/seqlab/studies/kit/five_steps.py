"""The five steps from gated recurrence to attention, each as a small model that can be trained."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.from_recurrence import (
    dependent_weights,
    free_candidates,
    free_weights,
    gated_recurrence,
    key_value_attention,
    multi_head_attention,
    recurrent_candidates,
    weighted_sum,
)

STEPS = (
    "0 gated recurrence",
    "1 dependent weights",
    "2 free weights",
    "3 free candidates",
    "4 keys and values",
    "5 several heads",
)


class StepModel(nn.Module):
    """One of the steps between an input and a linear output layer, causal (Σ to t) or full (Σ to T)."""

    def __init__(
        self,
        step: int,
        input_size: int,
        hidden_size: int,
        output_size: int,
        *,
        causal: bool,
        num_heads: int = 4,
    ) -> None:
        super().__init__()
        self.step = step
        self.causal = causal
        self.num_heads = num_heads
        self.keep = nn.Linear(input_size, hidden_size)
        nn.init.constant_(self.keep.bias, 2.0)  # a recurrence initially remembers
        self.query, self.key = nn.Linear(input_size, hidden_size), nn.Linear(input_size, hidden_size)
        self.score_query, self.score_key = (
            nn.Linear(hidden_size, hidden_size),
            nn.Linear(hidden_size, hidden_size),
        )
        self.candidate = nn.Linear(input_size, hidden_size, bias=False)
        self.recurrent = nn.Linear(hidden_size, hidden_size, bias=False)
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, inputs: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch time output"]:
        return self.head(self.states(inputs))

    def states(self, inputs: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch time hidden"]:
        if self.step >= 4:
            queries, keys, values = (
                self.query(inputs),
                self.key(inputs),
                free_candidates(inputs, self.candidate.weight),
            )
            if self.step == 4:
                return key_value_attention(queries, keys, values, causal=self.causal)
            return multi_head_attention(queries, keys, values, num_heads=self.num_heads, causal=self.causal)
        keep = torch.sigmoid(self.keep(inputs))
        candidates = (
            free_candidates(inputs, self.candidate.weight)
            if self.step == 3
            else self._recurrent_candidates(inputs, keep)
        )
        if self.step == 0:
            return self._scan(keep, candidates)
        if self.step == 1:
            return weighted_sum(dependent_weights(keep, causal=self.causal), candidates)
        scores = (
            self.score_query(candidates)
            @ self.score_key(candidates).transpose(1, 2)
            / candidates.shape[-1] ** 0.5
        )
        return weighted_sum(free_weights(scores.unsqueeze(-1), causal=self.causal), candidates)

    def _recurrent_candidates(self, inputs: Tensor, keep: Tensor) -> Tensor:
        return recurrent_candidates(inputs, keep, self.candidate.weight, self.recurrent.weight)

    def _scan(self, keep: Tensor, candidates: Tensor) -> Tensor:
        """A forward scan, or the mean of a scan in each direction, as in step 1."""
        forward_states = gated_recurrence(keep, candidates)
        return (
            forward_states
            if self.causal
            else (forward_states + gated_recurrence(keep.flip(1), candidates.flip(1)).flip(1)) / 2
        )
