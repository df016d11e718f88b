"""From a source to the likeliest target, one token after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.models.decoder import Writing


class Translator(Protocol):
    """A network that reads a source and then gives logits for one target token after the other."""

    def start(self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]) -> Writing: ...

    def decode(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing]: ...


@torch.inference_mode()
def decode_greedily(
    model: Translator,
    source: Shaped[Tensor, "batch source *features"],
    source_is_token: Bool[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_tokens: int,
    never_ids: Sequence[int] = (),
) -> list[list[int]]:
    """The targets, without start and end token; one that does not end has `max_tokens` of them.

    A sequence that has ended leaves the batch, so the others no longer wait for it. `never_ids` (padding) are never chosen.
    """
    targets: list[list[int]] = [[] for _ in range(len(source))]
    writing = model.start(source, source_is_token)
    running = torch.arange(len(source), device=source.device)  # which sources have not ended
    tokens = torch.full_like(running, start_id)
    never = torch.tensor(never_ids, dtype=torch.long, device=source.device)
    for _ in range(max_tokens):
        logits, writing = model.decode(tokens[:, None], torch.ones_like(tokens[:, None], dtype=torch.bool), writing)
        tokens = logits[:, -1].index_fill(1, never, -torch.inf).argmax(dim=-1)
        going_on = (tokens != end_id).nonzero().squeeze(1)
        if len(going_on) < len(running):
            running, tokens, writing = running[going_on], tokens[going_on], writing.keep(going_on).pick(going_on)
        if not len(running):
            break
        for row, token in zip(running.tolist(), tokens.tolist(), strict=True):
            targets[row].append(token)
    return targets
