"""The recurrent part of a trained run, and its input for a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.blocks.recurrent import RecurrentStack
from seqlab.core.errors import UsageError
from seqlab.models.recurrent import RecurrentBackbone
from seqlab.runs.run import Run

PARTS = {"backbone": "embed", "encoder": "embed_source"}
"""The modules that read a text, and what embeds it for them."""


@dataclass(frozen=True)
class RecurrentReading:
    """A stack of recurrent layers, and the embedded tokens of a text that it reads."""

    stack: RecurrentStack
    tokens: list[str]
    steps: Float[Tensor, "1 time input"]


def read_text(run: Run, text: Any) -> RecurrentReading:
    """The recurrent layers of a run before they read a text: the backbone, or the encoder of a run that
    translates.
    """
    for name, embed in PARTS.items():
        part = getattr(run.model, name, None)
        if isinstance(part, RecurrentBackbone):
            steps = run.codec.encode([text])[0]
            ids = torch.from_numpy(np.asarray(steps)).to(next(run.model.parameters()).device).unsqueeze(0)
            embedded = run.model.get_submodule(embed)(ids if ids.is_floating_point() else ids.long())
            return RecurrentReading(part.stack, run.codec.pieces(steps), embedded.detach())
    raise UsageError(
        f"the {run.recipe.model.kind} network of this run has no recurrent layers that read a text.",
        where=str(run.folder),
        cure="Train one that does: --model lstm or --model gru",
    )
