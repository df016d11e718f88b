"""Gate activations of a trained recurrent network for each token of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.inspection.gates import CANDIDATE
from seqlab.inspection.recurrent_part import read_text
from seqlab.inspection.step_order import to_numpy
from seqlab.inspection.unroll import unroll
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, render_page
from seqlab.runs.run import Run


@dataclass(frozen=True)
class GateActivations:
    """One gate of one direction of one layer: the value of every unit at every token, between 0 (closed)
    and 1 (open).
    """

    layer: int
    """From 1."""
    reverse: bool
    gate: str
    tokens: list[str]
    values: Float[np.ndarray, "time hidden"]
    text: str = ""
    """The text that was tokenized."""

    @property
    def layer_name(self) -> str:
        return f"layer {self.layer}{', backward' if self.reverse else ''}"


def gate_activations(run: Run, text: Any) -> list[GateActivations]:
    """Every gate of every layer and direction, in the order in which the cell computes them.

    Of a run that translates: those of its encoder.
    """
    reading = read_text(run, text)
    activations = []
    for trace in unroll(reading.stack, reading.steps).traces:
        for gate in [name for name in (trace.gates[0] if trace.gates else {}) if name != CANDIDATE]:
            values = torch.cat([gates[gate] for gates in trace.gates])  # (time, hidden)
            activations.append(
                GateActivations(
                    trace.layer + 1, trace.reverse, gate, reading.tokens, to_numpy(values), str(text)
                )
            )
    if not activations:
        raise UsageError(
            "a plain recurrent cell has no gates.",
            where=str(run.folder),
            cure="Train one that does: --model lstm or --model gru",
        )
    return activations


def gate_heatmaps(gates: Sequence[GateActivations]) -> list[TokenHeatmap]:
    """One heat map for each layer and direction, with a row for each gate; a token is darker the more open
    the gate is, averaged over the units.
    """
    layer_names = dict.fromkeys(gate.layer_name for gate in gates)
    return [
        TokenHeatmap(
            f"Open gates: {layer_name}",
            gates[0].tokens,
            [
                HeatmapRow(gate.gate, gate.values.mean(axis=1).tolist())
                for gate in gates
                if gate.layer_name == layer_name
            ],
            max_weight=1.0,
        )
        for layer_name in layer_names
    ]


def write_gate_page(gates: Sequence[GateActivations], path: str | Path) -> Path:
    """Write the self-contained page and return its path."""
    sections = [
        Section(f"gates-{number}", heatmap.title, _draw(heatmap, number))
        for number, heatmap in enumerate(gate_heatmaps(gates), start=1)
    ]
    write_whole(
        Path(path),
        render_page(
            title="Gate activations",
            subtitle=gates[0].text or " ".join(gates[0].tokens),
            created="",
            notices=(),
            sections=sections,
        ),
    )
    return Path(path)


def _draw(heatmap: TokenHeatmap, number: int) -> Markup:
    return tag("div", draw_token_heatmap(heatmap, ident=f"gates-{number}-strips"), class_="scroll")
