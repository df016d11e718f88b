"""Recurrent networks: any cell, any depth, one or both directions."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.locked_dropout import LockedDropout
from seqlab.blocks.recurrent import RecurrentStack, build_stack
from seqlab.cells.base import Cell, cells
from seqlab.cells.initialization import initialize
from seqlab.core.errors import ArgumentError, UsageError
from seqlab.models.base import Backbone, ModelState, backbones
from seqlab.models.settings.recurrent import RecurrentSettings


@backbones.register("recurrent")
class RecurrentBackbone(Backbone):
    """Dropout, then a stack of recurrent layers."""

    is_stateful = True

    def __init__(
        self, stack: RecurrentStack, *, input_size: int, dropout: float, locked: bool = False
    ) -> None:
        super().__init__()
        self.stack = stack
        self.dropout = LockedDropout(dropout) if locked else Dropout(dropout)
        self.input_size = input_size
        self.output_size = stack.output_size

    @classmethod
    def from_settings(cls, settings: RecurrentSettings, *, causal: bool) -> Self:
        if causal and settings.bidirectional:
            raise ArgumentError(
                "bidirectional",
                True,
                "a bidirectional network would see the future tokens that it has to predict.",
                cure="Set it to false for this task; classification and tagging can use both directions.",
            )
        sizes = settings.hidden_sizes or (settings.hidden_size,)
        input_size = settings.embedding_size or sizes[0]
        stack = build_recurrent_stack(settings, input_size=input_size)
        dropout = settings.dropout if settings.input_dropout < 0 else settings.input_dropout
        return cls(stack, input_size=input_size, dropout=dropout, locked=settings.locked_dropout)

    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        outputs, state = self.stack(self._drop(steps), is_token, state)
        return outputs, state

    def initial_state(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> ModelState:
        """The default initial state."""
        return self.stack.initial_state(num_sequences, like)

    def _drop(self, steps: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch time input"]:
        if isinstance(self.dropout, LockedDropout):
            sequences = (
                torch.arange(len(steps), device=steps.device).unsqueeze(1).expand(steps.shape[:2])
            )  # (batch, time)
            return self.dropout(steps, sequences, len(steps))
        return self.dropout(steps)


def build_recurrent_stack(settings: RecurrentSettings, *, input_size: int) -> RecurrentStack:
    """Build the layers from their settings, for inputs of any width."""
    return build_stack(
        input_size,
        lambda size, hidden_size: _build_cell(settings, size, hidden_size),
        settings.hidden_sizes or (settings.hidden_size,) * settings.layers,
        bidirectional=settings.bidirectional,
        merge=settings.merge,
        initial_state=settings.initial_state,
        dropout=settings.dropout,
        locked=settings.locked_dropout,
        residual=settings.residual,
    )


def _build_cell(settings: RecurrentSettings, input_size: int, hidden_size: int) -> Cell:
    """Build the cell; errors that depend on its sizes only show up here."""
    options = settings.cell.model_dump(exclude={"kind"})
    try:
        cell = cells.get(settings.cell.kind)(input_size, hidden_size, **options)
    except UsageError as error:
        raise ArgumentError("cell", settings.cell.kind, error.what, cure=error.cure) from error
    if settings.initialization != "torch":  # every cell's default
        initialize(cell, settings.initialization)
    return cell
