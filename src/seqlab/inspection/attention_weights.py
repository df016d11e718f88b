"""The attention weights of a trained network for one text, for every attention module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from seqlab.attention.learned_queries import LearnedQueries
from seqlab.attention.recording import RecordableAttention, record_alignments
from seqlab.core.errors import UsageError
from seqlab.models.base import Backbone
from seqlab.runs.run import Run
from seqlab.tasks.spec import find_spec
from seqlab.tasks.vectors import step_vectors


@dataclass(frozen=True)
class LayerAttention:
    """The attention weights of one attention module for one text, as plain data.

    Rows over the source sum to 1, or to 0 if everything is masked.
    """

    name: str
    """The name of its module: backbone.layers.0.attention."""
    query_tokens: list[str]
    """Labels of the queries: the tokens, or query 1, query 2, … for learned queries."""
    tokens: list[str]
    """Labels of the keys."""
    alignment: Float[np.ndarray, "heads target source"]
    text: str = ""
    """The text that was tokenized."""

    @property
    def title(self) -> str:
        """
        >>> LayerAttention("backbone.layers.2.attention", [], [], np.zeros((1, 0, 0))).title
        'layer 3'
        """
        layer = re.fullmatch(r"backbone\.layers\.(\d+)\.attention", self.name)
        return (
            f"layer {int(layer[1]) + 1}"
            if layer
            else "learned queries"
            if self.has_learned_queries
            else self.name
        )

    @property
    def has_learned_queries(self) -> bool:
        return self.query_tokens is not self.tokens and self.query_tokens[:1] == ["query 1"]


def attention_weights(run: Run, text: Any) -> list[LayerAttention]:
    """Every attention that reads the text, from the first to the last: self-attention of the backbone, then
    learned queries of the pooling.
    """
    model = run.model
    if not any(isinstance(module, RecordableAttention) for module in model.modules()):
        raise UsageError(
            f"the {run.recipe.model.kind} network of this run has no attention.",
            where=str(run.folder),
            cure=(
                "Train one that does: seqlab train DATA --model transformer, or use learned queries:"
                " model.pooling=queries"
            ),
        )
    if find_spec(run.recipe.task).generates:
        return _cross_attention(run, text)
    if not isinstance(getattr(model, "backbone", None), Backbone):
        raise UsageError(
            f"the {run.recipe.model.kind} network of this run does not read a text token by token.",
            where=str(run.folder),
            cure="For any network, use seqlab.attention.recording.record_alignments(run.model)",
        )
    steps = run.codec.encode([text])[0]
    tokens = run.codec.pieces(steps)
    with record_alignments(model) as recorded:
        features = step_vectors(model, steps)
        _pool(model, features)
    queries = {
        f"{name}.attention" for name, module in model.named_modules() if isinstance(module, LearnedQueries)
    }
    return [
        _to_layer_attention(name, calls[0], tokens, str(text), has_queries=name in queries)
        for name, calls in recorded.items()
        if calls
    ]


def _cross_attention(run: Run, text: Any) -> list[LayerAttention]:
    """The attention of the decoder over the source while it generates the target."""
    example = run.predictor.attend(str(text))
    if example is None:
        return []
    weights = np.array([example.weights])
    return [LayerAttention("decoder", list(example.written), list(example.read), weights, str(text))]


@torch.inference_mode()
def _pool(model: nn.Module, features: Float[np.ndarray, "time hidden"]) -> None:
    """Run the pooling of a classifier on the features of the backbone."""
    pool = getattr(model, "pool", None)
    if isinstance(pool, nn.Module):
        steps = torch.from_numpy(features).to(next(model.parameters())).unsqueeze(0)
        pool(steps, torch.ones(steps.shape[:2], dtype=torch.bool, device=steps.device))


def _to_layer_attention(
    name: str, alignment: torch.Tensor, tokens: list[str], text: str, *, has_queries: bool
) -> LayerAttention:
    weights = alignment[0].float().cpu().numpy()  # (heads, target, source)
    query_tokens = [f"query {number}" for number in range(1, weights.shape[1] + 1)] if has_queries else tokens
    return LayerAttention(name, query_tokens, tokens, weights, text)
