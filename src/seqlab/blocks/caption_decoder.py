"""Recurrent caption decoders: the image enters before the first word, or at every word through attention."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention, ProjectedSource
from seqlab.cells.base import Cell, State

Regions = Float[Tensor, "batch regions size"]
Alignment = Float[Tensor, "batch regions"]


class CaptionDecoder(nn.Module, ABC):
    """A cell that reads the words so far and is conditioned on an image, given as features of its regions."""

    input_size: int
    """Width of a word."""
    output_size: int

    @abstractmethod
    def init_state(self, regions: Regions) -> State:
        """The state before the first word. Each part has the batch as its first axis."""

    @abstractmethod
    def step(
        self, words: Float[Tensor, "batch input"], state: State
    ) -> tuple[Float[Tensor, "batch output"], State, Alignment | None]:
        """Read one word: returns features for the next word, the next state, and the attention weight of
        each region.
        """


class ImageAsState(CaptionDecoder):
    """hidden_0 = tanh(W [region 1; region 2; …] + b); after that, the decoder reads only words.

    The rest of the state, such as the cell state of an LSTM, starts at zero.
    """

    def __init__(self, cell: Cell, *, num_regions: int, region_size: int) -> None:
        super().__init__()
        self.cell = cell
        self.summary = nn.Linear(num_regions * region_size, cell.output_size)
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def init_state(self, regions: Regions) -> State:
        hidden = torch.tanh(self.summary(regions.flatten(1)))
        return (hidden, *self.cell.zero_state(hidden)[1:])

    def step(
        self, words: Float[Tensor, "batch input"], state: State
    ) -> tuple[Float[Tensor, "batch output"], State, None]:
        hidden, state = self.cell.materialize_weights()(words, state)
        return hidden, state, None


class ImageAsFirstInput(CaptionDecoder):
    """The cell reads W [region 1; region 2; …] + b once, as if it were a word before the start token.

    Paper: Vinyals et al. 2015, "Show and Tell: A Neural Image Caption Generator", arXiv:1411.4555, section
    3.1, equation 10.
    """

    def __init__(self, cell: Cell, *, num_regions: int, region_size: int) -> None:
        super().__init__()
        self.cell = cell
        self.summary = nn.Linear(num_regions * region_size, cell.input_size)
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def init_state(self, regions: Regions) -> State:
        _, state = self.cell.materialize_weights()(self.summary(regions.flatten(1)))
        return state

    def step(
        self, words: Float[Tensor, "batch input"], state: State
    ) -> tuple[Float[Tensor, "batch output"], State, None]:
        hidden, state = self.cell.materialize_weights()(words, state)
        return hidden, state, None


class RegionAttentionDecoder(CaptionDecoder):
    """The decoder attends to the regions before each word.

        context_t = attention(query = hidden_{t-1}, regions)
        hidden_t  = cell([word_t; context_t], state_{t-1})
        output_t  = [hidden_t; context_t]

    The state starts from the mean of the regions: hidden_0 = tanh(W mean + b). Paper: Xu et al. 2015, "Show,
    Attend and Tell: Neural Image Caption Generation with Visual Attention", arXiv:1502.03044, section 3.1.

    cell: its input is a word concatenated with a region. attention: compares the cell's hidden state with
    regions; any score.
    """

    def __init__(self, cell: Cell, attention: Attention, *, region_size: int) -> None:
        super().__init__()
        self.cell = cell
        self.attention = attention
        self.summary = nn.Linear(region_size, cell.output_size)
        self.input_size = cell.input_size - region_size
        self.output_size = cell.output_size + region_size

    def init_state(self, regions: Regions) -> State:
        hidden = torch.tanh(self.summary(regions.mean(dim=1)))
        return (*self.attention.project_source(regions), hidden, *self.cell.zero_state(hidden)[1:])

    def step(
        self, words: Float[Tensor, "batch input"], state: State
    ) -> tuple[Float[Tensor, "batch output"], State, Alignment]:
        keys, values, *inner = state
        context, alignment = self.attention.attend(
            inner[0].unsqueeze(1), ProjectedSource(keys, values)
        )  # (batch, 1, size), (batch, 1, regions)
        hidden, after = self.cell.materialize_weights()(
            torch.cat([words, context.squeeze(1)], dim=-1), tuple(inner)
        )
        return torch.cat([hidden, context.squeeze(1)], dim=-1), (keys, values, *after), alignment.squeeze(1)
