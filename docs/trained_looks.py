"""Trains the two small networks whose looks are drawn in the documents, in about a minute: `python
docs/trained_looks.py`, then pictures.py.

The weights are kept as numbers beside the pictures, because another processor may train a slightly different
network.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch

import seqlab
from seqlab.inspection.attention_page import attention_heatmap
from seqlab.inspection.attention_weights import attention_weights
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap
from seqlab.studies.two_heads import FULL, head_heatmaps, train_network

LOOKS = Path(__file__).parent / "pictures" / "looks.json"
NAME = "Ausländische Währungen"


def two_heads() -> list[TokenHeatmap]:
    """The first network of `seqlab study two_heads` whose heads divide the work."""
    return head_heatmaps(train_network(FULL, seed=0, number=3)[0], number=3)


def learned_queries() -> TokenHeatmap:
    """Where the queries of a classifier of languages look in a name."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [
            "model.pooling=queries",
            "model.queries=3",
            "model.layers=1",
            "model.hidden_size=64",
            "training.batch_size=32",
        ]
        run = seqlab.train(
            "languages", *settings, model="transformer", steps=600, seed=0, out=Path(folder) / "run"
        )
        (answer,) = run.predict([NAME])
        found = attention_heatmap(attention_weights(run, NAME)[-1])
    return TokenHeatmap(f"{NAME}: {answer.answer} ({answer.probability:.2f})", found.tokens, found.rows)


def rounded(strips: TokenHeatmap) -> TokenHeatmap:
    """Three decimals are more than an eye sees."""
    lines = [HeatmapRow(strip.name, [round(weight, 3) for weight in strip.weights]) for strip in strips.rows]
    return TokenHeatmap(strips.title, strips.tokens, lines, strips.query_index)


if __name__ == "__main__":
    torch.set_num_threads(1)
    hungry, slow = two_heads()
    looks = {"two_heads": hungry, "two_heads_slow": slow, "learned_queries": learned_queries()}
    LOOKS.write_text(
        json.dumps(
            {name: asdict(rounded(strips)) for name, strips in looks.items()}, indent=1, ensure_ascii=False
        )
        + "\n",
        "utf-8",
    )
