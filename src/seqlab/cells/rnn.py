"""The plain (Elman) recurrent cell: an activation of a weighted sum of the input and the old state."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from seqlab.cells.activations import get_activation
from seqlab.cells.base import Cell, State, cells
from seqlab.cells.option_types import Activation, Bias


@cells.register("rnn")
class RNN(Cell):
    """One step of the plain recurrent network.

        hidden' = activation(W x + U hidden + b)

    With the identity as activation and no bias this is the linear network whose gradients are derived in
    `hand_gradients`. Other textbook notations of this cell are in `rnn_forms`. Paper: Elman 1990, "Finding
    structure in time".

    activation: tanh, relu, sigmoid or identity; or any function of a tensor, which uses the reference scan.
    """

    num_gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: Bias = True,
        activation: Activation = "tanh",
    ) -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.activation = activation
        if isinstance(activation, str):
            get_activation(activation)  # an unknown name is rejected here, not in the first step

    def step(
        self, projected: Float[Tensor, "batch hidden"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        activate = (
            get_activation(self.activation).function if isinstance(self.activation, str) else self.activation
        )
        hidden = activate(projected + state[0] @ self.recurrent.T)
        return hidden, (hidden,)

    def extra_repr(self) -> str:
        name = (
            self.activation
            if isinstance(self.activation, str)
            else getattr(self.activation, "__name__", type(self.activation).__name__)
        )
        return super().extra_repr() + f", activation={name}"
