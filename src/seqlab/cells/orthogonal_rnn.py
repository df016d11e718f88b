"""A plain RNN cell whose recurrent matrix preserves norms: it is orthogonal by construction, at any time of
training.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from seqlab.cells.activations import get_activation
from seqlab.cells.base import Cell, State, cells
from seqlab.cells.option_types import Bias
from seqlab.cells.rotation import init_pair_rotations_, rotation_matrix
from seqlab.core.errors import UsageError, nearest

ALLOWED = ("modrelu", "tanh", "relu", "identity")


@cells.register("orthogonal_rnn")
class OrthogonalRNN(Cell):
    """One step of a plain network with controlled singular values.

        hidden'  = activation(W x + U hidden + b)
        U        = exp(A)                                radius 0: A skew-symmetric (Aᵀ = -A), so U is a rotation: all singular values 1
        U        = exp(A) diag(s) exp(B)ᵀ                else, with s = 1 + radius · tanh(stretch): singular values within 1 ± radius
        modrelu  = sign(a) relu(|a| + shift)             real modReLU: lengths change by the shift alone, signs never

    The free parameters are the entries above the diagonal of A (`rotation`), of B (`turn`), `stretch`, and
    modReLU's `shift`. A starts as rotations of pairs of units by angles uniform in ±π (Henaff et al. 2016).
    Papers: Arjovsky et al. 2016, arXiv:1511.06464 (modReLU); Helfrich et al. 2018, arXiv:1707.09520 (real and
    orthogonal); Lezcano-Casado & Martínez-Rubio 2019, arXiv:1901.08428 (the exponential); Vorontsov et al.
    2017, arXiv:1702.00071 (a margin around 1).
    """

    num_gates = 1
    rotation: nn.Parameter
    turn: nn.Parameter | None
    stretch: nn.Parameter | None
    shift: nn.Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: Bias = True,
        activation: Annotated[
            Literal["modrelu", "tanh", "relu", "identity"],
            Field(description="Activation function; modrelu shifts magnitudes and keeps signs."),
        ] = "modrelu",
        radius: Annotated[
            float,
            Field(ge=0, lt=1, description="Singular values stay within 1 ± radius; 0 is orthogonal."),
        ] = 0.0,
    ) -> None:
        _check(activation, radius)
        super().__init__(input_size, hidden_size, bias=bias)
        self.activation = activation
        self.radius = radius
        angles = hidden_size * (hidden_size - 1) // 2
        self.rotation = nn.Parameter(torch.empty(angles))
        self.register_parameter("turn", nn.Parameter(torch.empty(angles)) if radius else None)
        self.register_parameter("stretch", nn.Parameter(torch.empty(hidden_size)) if radius else None)
        self.register_parameter(
            "shift", nn.Parameter(torch.empty(hidden_size)) if activation == "modrelu" else None
        )
        self.reset_parameters()

    @property
    def num_recurrent_gates(self) -> int:
        return 0  # the matrix is computed, not kept

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for name, parameter in self.named_parameters(recurse=False):
            if name in ("rotation", "turn"):
                init_pair_rotations_(parameter, self.hidden_size)
            elif name == "stretch":
                nn.init.zeros_(parameter)
            elif name == "shift":
                nn.init.uniform_(parameter, -0.01, 0.01)

    def recurrent_matrix(self) -> Float[Tensor, "hidden hidden"]:
        """The recurrent matrix U of the parameters as they are now."""
        turned = rotation_matrix(self.rotation, self.hidden_size)
        if self.stretch is None or self.turn is None:
            return turned
        return (
            turned
            * (1 + self.radius * torch.tanh(self.stretch))
            @ rotation_matrix(self.turn, self.hidden_size).T
        )

    def materialize_weights(self) -> OrthogonalRNN:
        return self.with_weights({"recurrent": self.recurrent_matrix()})

    def step(
        self, projected: Float[Tensor, "batch hidden"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        hidden = self._activate(projected + state[0] @ self.current_recurrent().T)
        return hidden, (hidden,)

    def current_recurrent(self) -> Float[Tensor, "hidden hidden"]:
        """U, computed at most once per scan."""
        recurrent = self._parameters["recurrent"]
        return self.recurrent_matrix() if recurrent is None else recurrent

    def _activate(self, sums: Float[Tensor, "batch hidden"]) -> Float[Tensor, "batch hidden"]:
        return (
            get_activation(self.activation).function(sums)
            if self.shift is None
            else sums.sign() * torch.relu(sums.abs() + self.shift)
        )

    def extra_repr(self) -> str:
        return super().extra_repr() + f", activation={self.activation}, radius={self.radius}"


def _check(activation: str, radius: float) -> None:
    if activation not in ALLOWED:
        raise UsageError(
            f"an orthogonal cell has no activation called '{activation}'.", cure=nearest(activation, ALLOWED)
        )
    if not 0 <= radius < 1:
        raise UsageError(
            f"radius is {radius}.",
            cure=(
                "Singular values are within 1 ± radius, so radius must be at least 0 (orthogonal) and"
                " below 1."
            ),
        )
