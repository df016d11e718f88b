"""Vectors of texts: the features of the backbone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import pad
from seqlab.batches.samplers import LengthOrderSampler
from seqlab.blocks.pooling import FirstPool, LastPool, MaxPool, MeanPool
from seqlab.blocks.recurrent_layer import BidirectionalLayer
from seqlab.blocks.word_embedding import WordCharacterEmbedding
from seqlab.core.errors import UsageError, nearest
from seqlab.models.base import Backbone
from seqlab.models.recurrent import RecurrentBackbone

VectorPooling = Literal["mean", "first", "last", "max"]
TOGETHER, STEPS_TOGETHER = 256, 32_768
"""Maximum number of sequences, and of padded steps, in a batch."""


def sequence_vectors(
    model: nn.Module, sequences: Sequence[NDArray[Any]], *, pooling: VectorPooling
) -> Float[np.ndarray, "sequences hidden"]:
    """Return one vector per sequence of steps, in order: the features of the backbone, pooled over the real
    steps.
    """
    backbone = _backbone_of(model)
    pool = _pool(pooling, backbone)
    vectors = np.empty((len(sequences), backbone.output_size), np.float32)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    sampler = LengthOrderSampler(lengths, batch_size=TOGETHER, most_steps=STEPS_TOGETHER)
    for number in range(sampler.batches_in(0)):
        rows = sampler.batch(0, number)
        features, is_token = _read(model, [sequences[row] for row in rows.tolist()])
        vectors[rows] = pool(features, is_token).float().cpu().numpy()
    return vectors


def step_vectors(model: nn.Module, sequence: NDArray[Any]) -> Float[np.ndarray, "time hidden"]:
    """Return the features of the backbone at every step of one sequence."""
    features, _ = _read(model, [sequence])
    return features[0].float().cpu().numpy()


def embedding_table(model: nn.Module) -> tuple[nn.Embedding, NDArray[np.int64]]:
    """Return the token embedding (that of words if characters are used too), and a step for each of its
    rows.
    """
    embed = getattr(model, "embed", None)
    table = embed.words if isinstance(embed, WordCharacterEmbedding) else embed
    if not isinstance(table, nn.Embedding):
        raise UsageError(
            "this network has no token embedding, so there are no word vectors.",
            cure="Use a network that reads text.",
        )
    ids = np.arange(table.num_embeddings)
    return table, ids if table is embed else ids[:, np.newaxis]


@torch.inference_mode()
def _read(model: nn.Module, sequences: list[NDArray[Any]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the features of the backbone (batch, time, hidden), and which steps are real."""
    inputs, is_token = pad(sequences, value=0)
    device = next(model.parameters()).device
    inputs, is_token = inputs.to(device), is_token.to(device)
    was_training = model.training
    model.eval()
    features, _ = _backbone_of(model)(model.get_submodule("embed")(inputs), is_token)
    model.train(was_training)
    return features, is_token


def _backbone_of(model: nn.Module) -> Backbone:
    backbone = getattr(model, "backbone", None)
    if not isinstance(backbone, Backbone):
        raise UsageError("this network has no sequence backbone, so it does not provide vectors.")
    return backbone


def _pool(pooling: str, backbone: Backbone) -> nn.Module:
    if pooling not in get_args(VectorPooling):
        raise UsageError(
            f"there is no pooling called '{pooling}'.",
            cure=nearest(pooling, get_args(VectorPooling)),
        )
    if pooling == "last":
        layer = backbone.stack.layers[-1] if isinstance(backbone, RecurrentBackbone) else None
        merged = isinstance(layer, BidirectionalLayer) and layer.output_size == layer.onward.output_size
        if merged:
            raise UsageError(
                "pooling='last' needs separate directions, but this network merges them.",
                cure="Use pooling='mean' or 'max'.",
            )
        return LastPool(bidirectional=isinstance(layer, BidirectionalLayer))
    return {"mean": MeanPool, "first": FirstPool, "max": MaxPool}[pooling]()
