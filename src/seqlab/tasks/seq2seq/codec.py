"""What the codecs of tasks that generate a target sequence share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Shaped
from torch import Tensor

from seqlab.tasks.codec import Codec
from seqlab.tasks.seq2seq.target_tokens import TargetTokens

NO_LIMIT = 1 << 30

SourceSteps = Shaped[Tensor, "source *features"]
"""One source, as the encoder reads it."""


@dataclass(frozen=True)
class Seq2SeqCodec(Codec):
    """Sources as steps, targets as tokens."""

    tokens: TargetTokens
    max_positions: int = field(default=NO_LIMIT, kw_only=True)
    """The longest side, in tokens, that the positions of the network reach."""

    @abstractmethod
    def encode_inputs(self, inputs: Sequence[Any]) -> Iterable[SourceSteps]:
        """Inputs of a prediction, as the encoder reads them."""
