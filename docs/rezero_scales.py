"""Writes pictures/rezero_scales.json, how far new stacks move their input and how α grows with ReZero: `python docs/rezero_scales.py`,
then transformer_pictures.py. It takes about 10 seconds.

The numbers are kept beside the pictures, because another processor may train a slightly different network.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch

from seqlab.blocks.residual import ReZero
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from seqlab.studies.kit.small_text import small_text
from seqlab.studies.kit.small_training import seeded, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer

SCALES = Path(__file__).parent / "pictures" / "rezero_scales.json"
LAYERS, UPDATES, EVERY = 6, 150, 5


DEPTHS = 12
"""Layers of the untrained stacks."""


@torch.no_grad()
def changes_by_depth(norm: Literal["pre", "rezero"]) -> list[float]:
    """‖x_l - x_0‖ / ‖x_0‖ after each layer of a new Transformer, without its last norm."""
    settings = TransformerSettings(
        layers=DEPTHS, hidden_size=16, heads=2, norm=norm, dropout=0.0, positions="none"
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        backbone = TransformerBackbone.from_settings(settings, causal=False).double()
        inputs = torch.randn(1, 7, 16, dtype=torch.float64)
    changes, outputs = [0.0], []
    for layer in backbone.layers:
        layer.register_forward_hook(lambda _, __, found: outputs.append(found[0]))
    backbone(inputs, torch.ones(1, 7, dtype=torch.bool))
    changes += [round(((output - inputs).norm() / inputs.norm()).item(), 4) for output in outputs]
    return changes


@dataclass(frozen=True)
class ReZeroScales:
    """α of every residual path at some updates: one list for each layer."""

    updates: list[int]
    attention: list[list[float]]
    feed_forward: list[list[float]]


def train_scales() -> ReZeroScales:
    """A character Transformer on the text of Python's help."""
    text = small_text()
    with seeded(0, "rezero scales") as generator:
        model = SmallTransformer(text.num_symbols, layers=LAYERS, norm="rezero")
        scales = ReZeroScales([0], [[0.0] for _ in range(LAYERS)], [[0.0] for _ in range(LAYERS)])

        def record(update: int) -> None:
            if update % EVERY == 0:
                scales.updates.append(update)
                for depth, layer in enumerate(model.backbone.layers):
                    scales.attention[depth].append(scale_of(layer.attention_residual))
                    scales.feed_forward[depth].append(scale_of(layer.feed_forward_residual))

        train_small(model, lambda: model.nats(*text.draw(32, 32, generator)), steps=UPDATES, callback=record)
    return scales


def scale_of(residual: torch.nn.Module) -> float:
    assert isinstance(residual, ReZero)
    return round(residual.scale.item(), 4)


if __name__ == "__main__":
    torch.set_num_threads(1)
    changes = {norm: changes_by_depth(norm) for norm in ("pre", "rezero")}
    SCALES.write_text(json.dumps({"changes": changes, **asdict(train_scales())}) + "\n", encoding="utf-8")
