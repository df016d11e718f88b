"""A published model in seqlab's terms: its task, the settings of its network, and the source of each
tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seqlab.interop.tensor_map import TensorSpec
from seqlab.interop.unused_tensors import UnusedTensor
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings

ACTIVATIONS = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh",
    "relu": "relu", "silu": "silu", "swish": "silu",
}  # fmt: skip
"""seqlab's names for the activations."""


@dataclass(frozen=True)
class PublishedModel:
    """A pretrained model described in seqlab's terms."""

    family: str
    task: str
    model: TransformerSettings | RecurrentSettings
    weights: Mapping[str, TensorSpec]
    vocabulary_size: int
    """Number of rows of the embedding; for an encoder-decoder, of the target embedding."""
    context: int
    """Maximum number of tokens that it can read at once; 0 means no limit."""
    unused: tuple[UnusedTensor, ...] = ()
    """Tensors that the network does not read, with the reasons."""
    notes: list[str] = field(default_factory=list)
    decoder: DecoderSettings = field(default_factory=DecoderSettings)
    """The decoder of an encoder-decoder; `model` describes the encoder."""
    sections: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {"tokens": {"kind": "hugging_face"}}
    )
    """Other settings of its recipe, by section."""
    source_vocabulary_size: int = 0
    """Number of rows of the source embedding of an encoder-decoder."""
    headless: bool = False
    """Whether there is only the encoder, without a masked-language-model head."""
