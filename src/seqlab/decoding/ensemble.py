"""Several networks that write one target together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from seqlab.core.errors import UsageError
from seqlab.decoding.protocol import Aligner, Translator
from seqlab.decoding.search import normalised
from seqlab.models.base import State
from seqlab.models.decoders.base import Alignment, Writing, moved


class Ensemble(nn.Module):
    """P(token) = mean over the networks of P_m(token); the logits are log P. All have the vocabularies of the first, in the same order."""

    def __init__(self, models: Sequence[Translator]) -> None:
        super().__init__()
        if not models:
            raise UsageError("an ensemble needs at least one model.", cure="Name the runs that shall write together.")
        self.models = tuple(models)
        self.networks = nn.ModuleList(model for model in models if isinstance(model, nn.Module))

    def start(self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        writings = [model.start(source, source_is_token) for model in self.models]
        return Writing(tuple(_Bundle(one.source) for one in writings), tuple(_Bundle(one.past) for one in writings))

    def decode(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing]:
        logits, writing, _ = self._step(targets, is_token, writing, aligned=False)
        return logits, writing

    def align(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing, Alignment | None]:
        """As `decode`, with the mean of the alignments of those networks that have one; None where none has."""
        return self._step(targets, is_token, writing, aligned=True)

    def _step(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing, *, aligned: bool
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing, Alignment | None]:
        log_probs, pasts, alignments = [], [], []
        for model, source, past in zip(self.models, writing.source, writing.past, strict=True):
            before, alignment = Writing(source.parts, past.parts), None
            if aligned and isinstance(model, Aligner):
                logits, after, alignment = model.align(targets, is_token, before)
            else:
                logits, after = model.decode(targets, is_token, before)
            log_probs.append(normalised(logits))
            pasts.append(_Bundle(after.past))
            alignments += [] if alignment is None else [alignment]
        sizes = [one.shape[2] for one in log_probs]
        if len(set(sizes)) > 1:
            raise UsageError(
                f"models with vocabularies of {', '.join(f'{size:,}' for size in sizes)} tokens cannot write together.",
                where="ensemble",
                cure="Take runs that were trained with the same vocabulary, for instance with different seeds.",
            )
        together = torch.stack(log_probs).logsumexp(dim=0) - math.log(len(log_probs))
        return together, writing.after(tuple(pasts)), torch.stack(alignments).mean(dim=0) if alignments else None


@dataclass(frozen=True)
class _Bundle:
    """The parts of one network's state, picked together."""

    parts: State

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> _Bundle:
        return _Bundle(tuple(part[rows] for part in self.parts))

    def moved(self, rows: Int[Tensor, " rows"]) -> _Bundle:
        return _Bundle(tuple(moved(part, rows) for part in self.parts))
