"""Several networks that write one target together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.search import normalised
from seqlab.decoding.translator import Translator
from seqlab.models.base import State
from seqlab.models.decoder import Writing, moved


class Ensemble:
    """P(token) = mean over the networks of P_m(token); the logits are log P. All have the vocabularies of the first, in the same order."""

    def __init__(self, models: Sequence[Translator]) -> None:
        if not models:
            raise UsageError("an ensemble needs at least one model.", cure="Name the runs that shall write together.")
        self.models = tuple(models)

    def start(self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        writings = [model.start(source, source_is_token) for model in self.models]
        return Writing(tuple(_Bundle(one.source) for one in writings), tuple(_Bundle(one.past) for one in writings))

    def decode(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing]:
        log_probs, pasts = [], []
        for model, source, past in zip(self.models, writing.source, writing.past, strict=True):
            logits, after = model.decode(targets, is_token, Writing(source.parts, past.parts))
            log_probs.append(normalised(logits))
            pasts.append(_Bundle(after.past))
        sizes = [one.shape[2] for one in log_probs]
        if len(set(sizes)) > 1:
            raise UsageError(
                f"models with vocabularies of {', '.join(f'{size:,}' for size in sizes)} tokens cannot write together.",
                where="ensemble",
                cure="Take runs that were trained with the same vocabulary, for instance with different seeds.",
            )
        together = torch.stack(log_probs).logsumexp(dim=0) - math.log(len(log_probs))
        return together, writing.after(tuple(pasts))


@dataclass(frozen=True)
class _Bundle:
    """The parts of one network's state, picked together."""

    parts: State

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> _Bundle:
        return _Bundle(tuple(part[rows] for part in self.parts))

    def moved(self, rows: Int[Tensor, " rows"]) -> _Bundle:
        return _Bundle(tuple(moved(part, rows) for part in self.parts))
