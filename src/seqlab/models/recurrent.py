"""Recurrent networks: rnn, lstm or gru, any depth, one or both directions."""

from __future__ import annotations

from typing import Self

from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.recurrent import RecurrentStack
from seqlab.core.errors import RecipeError
from seqlab.models.base import Body, State, bodies
from seqlab.models.settings import RecurrentSettings


@bodies.register("recurrent")
class Recurrent(Body):
    """Dropout, then a stack of recurrent layers."""

    carries_state = True

    def __init__(self, stack: RecurrentStack, *, input_size: int, dropout: float) -> None:
        super().__init__()
        self.stack = stack
        self.dropout = Dropout(dropout)
        self.input_size = input_size
        self.output_size = stack.output_size

    @classmethod
    def build(cls, settings: RecurrentSettings, *, causal: bool) -> Self:
        if causal and settings.bidirectional:
            raise RecipeError(
                "a bidirectional network sees the future that it is asked to predict.",
                where="model.bidirectional",
                cure="Leave it false for this task; classification and tagging may read in both directions.",
            )
        input_size = settings.embedding_size or settings.hidden_size
        stack = RecurrentStack(
            input_size,
            cell=settings.cell,
            hidden_size=settings.hidden_size,
            num_layers=settings.layers,
            bidirectional=settings.bidirectional,
            dropout=settings.dropout,
        )
        return cls(stack, input_size=input_size, dropout=settings.dropout)

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        outputs, state = self.stack(self.dropout(steps), is_token, state)
        return outputs, state
