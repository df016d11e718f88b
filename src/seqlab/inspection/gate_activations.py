"""How open is each gate at each word? The gates of a trained network over one text."""

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
from seqlab.inspection.step_order import plain
from seqlab.inspection.unroll import unroll
from seqlab.models.recurrent import Recurrent
from seqlab.pages.charts.token_heatmap import Strip, TokenStrips, draw_token_strips
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, page
from seqlab.runs.run import Run


@dataclass(frozen=True)
class SentenceGate:
    """One gate of one direction of one layer: the value of every unit at every token, between 0 (shut) and 1 (open)."""

    layer: int
    """From 1."""
    reverse: bool
    gate: str
    tokens: list[str]
    values: Float[np.ndarray, "time hidden"]

    @property
    def track(self) -> str:
        return f"layer {self.layer}{', backward' if self.reverse else ''}"


def sentence_gates(run: Run, text: Any) -> list[SentenceGate]:
    """Every gate of every layer and direction, in the order in which the cell computes them."""
    body = getattr(run.model, "body", None)
    if not isinstance(body, Recurrent):
        raise UsageError(
            f"the {run.recipe.model.kind} network of this run has no gates.",
            where=str(run.folder),
            cure="Train one that has: --model lstm or --model gru",
        )
    steps = run.task.encode([text])[0]
    tokens = run.task.pieces(steps)
    ids = torch.from_numpy(np.asarray(steps)).to(next(run.model.parameters()).device).unsqueeze(0)
    embedded = run.model.get_submodule("embed")(ids if ids.is_floating_point() else ids.long())  # (1, time, input)
    found = []
    for track in unroll(body.stack, embedded.detach()).tracks:
        for gate in [name for name in (track.gates[0] if track.gates else {}) if name != CANDIDATE]:
            values = torch.cat([gates[gate] for gates in track.gates])  # (time, hidden)
            found.append(SentenceGate(track.layer + 1, track.reverse, gate, tokens, plain(values)))
    if not found:
        raise UsageError("a plain recurrent cell has no gates.", where=str(run.folder), cure="Train one that has: --model lstm or --model gru")
    return found


def gate_strips(gates: Sequence[SentenceGate]) -> list[TokenStrips]:
    """For each layer and direction a picture: a strip for each gate, a token as dark as the gate is open on average over the units."""
    tracks = dict.fromkeys(gate.track for gate in gates)
    return [
        TokenStrips(
            f"Open gates: {track}",
            gates[0].tokens,
            [Strip(gate.gate, gate.values.mean(axis=1).tolist()) for gate in gates if gate.track == track],
            darkest=1.0,
        )
        for track in tracks
    ]


def write_gates(gates: Sequence[SentenceGate], path: str | Path) -> Path:
    """Write the page, which needs no other file, and return where it is."""
    sections = [Section(f"gates-{number}", strips.title, _drawn(strips, number)) for number, strips in enumerate(gate_strips(gates), start=1)]
    write_whole(Path(path), page(title="How open the gates are", subtitle=" ".join(gates[0].tokens), created="", notices=(), sections=sections))
    return Path(path)


def _drawn(strips: TokenStrips, number: int) -> Markup:
    return tag("div", draw_token_strips(strips, ident=f"gates-{number}-strips"), class_="scroll")
