"""Small networks of every kind, with sizes that differ, for the promises that every backbone keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from seqlab.cells.settings import CELL_KINDS
from seqlab.models.base import Backbone, backbones
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.fixed_window import FixedWindowSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings

AnySettings: TypeAlias = RecurrentSettings | ConvolutionalSettings | FixedWindowSettings | TransformerSettings

SMALL_OPTIONS: Mapping[str, dict[str, object]] = {"projected_lstm": {"proj_size": 3}}


def recurrent(cell: str | dict[str, object], **settings: Any) -> RecurrentSettings:
    """A small network of a cell, given by its name or with options."""
    section = {"kind": cell, **SMALL_OPTIONS.get(cell, {})} if isinstance(cell, str) else cell
    return RecurrentSettings.model_validate({"cell": section, "hidden_size": 5, **settings})


EITHER_WAY: Mapping[str, AnySettings] = {
    **{name: recurrent(name) for name in CELL_KINDS},
    "three lstm layers": recurrent("lstm", layers=3, embedding_size=7),
    "two gru layers": recurrent("gru", hidden_size=7, layers=2, embedding_size=3),
    "a width for each layer": recurrent("coupled_lstm", hidden_sizes=(7, 3, 5), embedding_size=4),
    "residual": recurrent("gru", layers=3, residual=True, embedding_size=5),
    "residual over different widths": recurrent("rnn", hidden_sizes=(5, 3, 3), residual=True),
    "locked dropout": recurrent("peephole_lstm", layers=2, locked_dropout=True),
    "learned initial state": recurrent("lstm", layers=2, initial_state="learned"),
    "full peepholes that see the new memory": recurrent(
        {"kind": "peephole_lstm", "peepholes": "full", "output_gate_sees": "new"}
    ),
    "orthogonal start": recurrent("rnn", initialization="orthogonal"),
    "convolutional": ConvolutionalSettings(hidden_size=6, layers=3, kernel_size=3),
    "convolutional kernel 1": ConvolutionalSettings(hidden_size=5, layers=1, kernel_size=1),
    "fixed window": FixedWindowSettings(hidden_size=5, embedding_size=4, context=3),
    "transformer pre-norm": TransformerSettings(hidden_size=6, heads=3, layers=2),
    "transformer post-norm": TransformerSettings(
        hidden_size=8, heads=2, layers=3, norm="post", activation="relu", embedding_norm=True, qkv_bias=False
    ),
    "transformer learned positions": TransformerSettings(
        hidden_size=6, heads=1, layers=1, positions="learned", max_positions=40, feedforward_size=5
    ),
    "transformer without positions": TransformerSettings(
        hidden_size=6, heads=2, layers=2, positions="none", sublayer_dropout=False
    ),
    "transformer rotary positions, grouped heads": TransformerSettings(
        hidden_size=8, heads=4, kv_heads=2, layers=2, positions="rotary", rotary_base=50.0, bias=False
    ),
    "transformer alibi, one head of keys": TransformerSettings(
        hidden_size=6, heads=3, kv_heads=1, layers=1, positions="alibi"
    ),
    "transformer relative positions, shared rezero": TransformerSettings(
        hidden_size=6, heads=2, layers=2, positions="relative", norm="shared_rezero"
    ),
    "transformer wide heads": TransformerSettings(
        hidden_size=5, heads=3, head_size=4, layers=1, embedding_scale=True
    ),
    "transformer window": TransformerSettings(hidden_size=6, heads=2, layers=2, window=3),
    "transformer window and rotary positions": TransformerSettings(
        hidden_size=8, heads=4, kv_heads=1, layers=1, window=2, positions="rotary"
    ),
    "transformer window and alibi": TransformerSettings(
        hidden_size=6, heads=2, layers=1, window=4, positions="alibi"
    ),
    "transformer window and relative positions": TransformerSettings(
        hidden_size=6, heads=2, layers=1, window=3, positions="relative"
    ),
    "transformer sees itself alone": TransformerSettings(
        hidden_size=6, heads=2, layers=1, window=1, positions="learned", max_positions=40
    ),
    "transformer rms norm": TransformerSettings(
        hidden_size=6, heads=2, layers=1, norm_kind="rms", norm="post", activation="gelu"
    ),
    "transformer gated": TransformerSettings(
        hidden_size=6,
        heads=2,
        layers=1,
        gated=True,
        activation="silu",
        feedforward_size=7,
        bias=False,
        norm_kind="rms",
        qkv_bias=False,
    ),
    "transformer rezero": TransformerSettings(hidden_size=6, heads=2, layers=2, norm="rezero"),
    "transformer of the lecture": TransformerSettings(
        hidden_size=6, heads=2, layers=1, norm="lecture", activation="relu"
    ),
}
ALL_STEPS: Mapping[str, AnySettings] = {
    **EITHER_WAY,
    "bilstm": recurrent("lstm", hidden_size=4, layers=2, bidirectional=True),
    "bigru": recurrent("gru", embedding_size=3, bidirectional=True),
    "mean of directions": recurrent(
        "lstm", layers=2, bidirectional=True, merge="mean", embedding_size=3, pooling="max"
    ),
    "sum of directions": recurrent(
        "single_gate", layers=2, bidirectional=True, merge="sum", residual=True, pooling="mean"
    ),
    "learned merge": recurrent(
        "peephole_lstm", hidden_sizes=(4, 3), bidirectional=True, merge="learned", pooling="max"
    ),
    "both directions of projections": recurrent(
        "projected_lstm", layers=2, bidirectional=True, initial_state="learned", locked_dropout=True
    ),
}
CAUSAL: Mapping[str, AnySettings] = {
    **EITHER_WAY,
    "convolutional kernel 2": ConvolutionalSettings(hidden_size=6, layers=4, kernel_size=2),
    "fixed window of four steps": FixedWindowSettings(hidden_size=6, embedding_size=0, context=4),
}

CASES = [(name, settings, False) for name, settings in ALL_STEPS.items()] + [
    (name, settings, True) for name, settings in CAUSAL.items()
]
CASE_NAMES = [f"{name}, {'causal' if causal else 'all steps'}" for name, _, causal in CASES]


def build(settings: AnySettings, *, causal: bool, dtype: torch.dtype = torch.float64) -> Backbone:
    """A backbone with every parameter random, so that none hides behind a zero or a one; not training."""
    torch.manual_seed(11)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=causal)
    for parameter in backbone.parameters():
        with torch.no_grad():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return backbone.to(dtype).eval()


def ragged(
    lengths: list[int], size: int, *, seed: int = 1, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    """Random steps, with large nonsense in the padding."""
    steps = torch.randn(
        len(lengths), max(lengths), size, generator=torch.Generator().manual_seed(seed), dtype=dtype
    )
    is_token = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.where(is_token.unsqueeze(-1), steps, 100 * steps + 30), is_token


def assert_every_parameter_has_a_gradient(module: nn.Module) -> None:
    idle = [
        name
        for name, parameter in module.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert idle == []
