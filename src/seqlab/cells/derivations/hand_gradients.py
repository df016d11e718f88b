"""Backpropagation through time of the linear network, written out by hand.

    h_t = W_hx x_t + W_hh h_{t-1}            o_t = W_qh h_t            L = any function of o_1 .. o_T

This is the plain cell with the identity as activation and without bias (`RNN(activation="identity",
bias=False)`) under an output layer. With ∂L/∂o_t given by the loss, the chain rule says

    ∂L/∂W_qh = Σ_{t=1..T} ∂L/∂o_t h_tᵀ
    ∂L/∂h_T  = W_qhᵀ ∂L/∂o_T                              the last state acts through its own output only
    ∂L/∂h_t  = W_hhᵀ ∂L/∂h_{t+1} + W_qhᵀ ∂L/∂o_t          t < T: through the next state and through its own output
    ∂L/∂W_hx = Σ_{t=1..T} ∂L/∂h_t x_tᵀ
    ∂L/∂W_hh = Σ_{t=1..T} ∂L/∂h_t h_{t-1}ᵀ

The three sums over time start at 1, because a weight acts in every step. The lecture prints them from t,
although t is not bound. Only the closed form of a single ∂L/∂h_t is a sum from t to T, because a state
affects its own step and the later ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class LinearRNNGradients:
    """The gradients of L, each with the shape of the tensor it belongs to."""

    output: Tensor
    """∂L/∂o_t (batch, time, output), as given."""
    hidden: Tensor
    """∂L/∂h_t (batch, time, hidden)."""
    W_hx: Tensor
    W_hh: Tensor
    W_qh: Tensor


def scan_linear(
    inputs: Float[Tensor, "batch time input"],
    initial: Float[Tensor, "batch hidden"],
    W_hx: Float[Tensor, "hidden input"],
    W_hh: Float[Tensor, "hidden hidden"],
) -> Float[Tensor, "batch time hidden"]:
    """The states h_1 .. h_T."""
    state, states = initial, []
    for projected in (inputs @ W_hx.T).unbind(1):
        state = projected + state @ W_hh.T
        states.append(state)
    return torch.stack(states, dim=1)


def hand_gradients(
    inputs: Float[Tensor, "batch time input"],
    d_output: Float[Tensor, "batch time output"],
    W_hx: Float[Tensor, "hidden input"],
    W_hh: Float[Tensor, "hidden hidden"],
    W_qh: Float[Tensor, "output hidden"],
    *,
    initial: Float[Tensor, "batch hidden"] | None = None,
) -> LinearRNNGradients:
    """All gradients; those of the states come from the recursion from the last step to the first.

    d_output: ∂L/∂o_t, from the loss. initial: h_0, zeros by default.
    """
    initial = inputs.new_zeros(len(inputs), len(W_hh)) if initial is None else initial
    hidden = scan_linear(inputs, initial, W_hx, W_hh)
    before = torch.cat([initial.unsqueeze(1), hidden[:, :-1]], dim=1)  # h_0 .. h_{T-1}
    through_output = d_output @ W_qh  # (W_qhᵀ ∂L/∂o_t)ᵀ, (batch, time, hidden)
    d_state, d_states = torch.zeros_like(initial), []
    for direct in reversed(through_output.unbind(1)):
        d_state = d_state @ W_hh + direct
        d_states.append(d_state)
    d_hidden = torch.stack(d_states[::-1], dim=1)
    return LinearRNNGradients(
        d_output,
        d_hidden,
        _over_time(d_hidden, inputs),
        _over_time(d_hidden, before),
        _over_time(d_output, hidden),
    )


def closed_form_hidden_gradients(
    d_output: Float[Tensor, "batch time output"],
    W_hh: Float[Tensor, "hidden hidden"],
    W_qh: Float[Tensor, "output hidden"],
) -> Float[Tensor, "batch time hidden"]:
    """∂L/∂h_t = Σ_{i=t..T} (W_hhᵀ)^{T-i} W_qhᵀ ∂L/∂o_{T+t-i}: the recursion solved.

    The powers of W_hhᵀ explain vanishing and exploding gradients: after n steps its eigenvalues are raised to
    the power n.
    """
    last = d_output.shape[1]
    powers = [torch.eye(len(W_hh), dtype=W_hh.dtype, device=W_hh.device)]
    for _ in range(last - 1):
        powers.append(powers[-1] @ W_hh)
    through_output = (d_output @ W_qh).unbind(1)  # steps 1..T are at indices 0..T-1

    def at(t: int) -> Tensor:
        terms = [through_output[last + t - i - 1] @ powers[last - i] for i in range(t, last + 1)]
        return torch.stack(terms).sum(dim=0)

    return torch.stack([at(t) for t in range(1, last + 1)], dim=1)


def _over_time(
    gradient: Float[Tensor, "batch time rows"], seen: Float[Tensor, "batch time columns"]
) -> Float[Tensor, "rows columns"]:
    """Σ_t gradient_t seen_tᵀ, also summed over the batch."""
    return gradient.flatten(0, 1).T @ seen.flatten(0, 1)
