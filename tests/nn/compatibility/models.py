# mypy: disable-error-code="no-untyped-def"

"""Models around one layer: some of PyTorch's tools treat a layer inside of a model in another way."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Inside(torch.nn.Module):
    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer


class Inside1(Inside):
    def forward(self, a: Tensor):
        return self.layer(a)


class Inside2(Inside):
    def forward(self, a: Tensor, b: Tensor):
        return self.layer(a, b)


class Inside3(Inside):
    def forward(self, a: Tensor, b: Tensor, c: Tensor):
        return self.layer(a, b, c)


class Packed(Inside):
    """A padded batch with its lengths, through a packed layer and back."""

    def __init__(self, layer: torch.nn.Module, *, enforce_sorted: bool = False) -> None:
        super().__init__(layer)
        self.enforce_sorted = enforce_sorted

    def forward(self, steps: Tensor, lengths: Tensor) -> Tensor:
        output, _ = self.layer(pack_padded_sequence(steps, lengths, enforce_sorted=self.enforce_sorted))
        return pad_packed_sequence(output)[0]
