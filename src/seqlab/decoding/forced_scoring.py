"""How probable given targets are: forced scoring."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.batched import padded
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Translator
from seqlab.decoding.search import Symbols, normalised

TOGETHER = 16
"""Pairs that are scored side by side."""


def score_targets(
    model: Translator,
    sources: Sequence[Shaped[Tensor, "source *features"]],
    targets: Sequence[Sequence[int]],
    symbols: Symbols,
    *,
    ended: Sequence[bool] | None = None,
    device: torch.device | None = None,
) -> list[Hypothesis]:
    """log P(target | source) = Σ_t log P(token_t | source, tokens before), one target for each source, the end token included.

    To compare two translations of one source give it twice. `ended` is False for targets without an end, of which only the tokens count.
    Pairs of about the same length are scored together, and come back in order.
    """
    if len(sources) != len(targets):
        raise UsageError(f"{len(sources)} sources and {len(targets)} targets cannot be paired.", cure="Give one target for each source.")
    ends = list(ended) if ended is not None else [True] * len(targets)
    order = sorted(range(len(targets)), key=lambda place: (len(targets[place]), len(sources[place])))
    found: list[Hypothesis | None] = [None] * len(targets)
    for start in range(0, len(order), TOGETHER):
        places = order[start : start + TOGETHER]
        rows = [[*targets[place], *([symbols.end_id] if ends[place] else [])] for place in places]
        for place, row, log_probs in zip(places, rows, _score(model, [sources[place] for place in places], rows, symbols, device), strict=True):
            assert len(row) == len(log_probs)
            found[place] = Hypothesis(list(targets[place]), log_probs, sum(log_probs), ends[place])
    return [hypothesis for hypothesis in found if hypothesis is not None]


@torch.inference_mode()
def _score(
    model: Translator, sources: Sequence[Tensor], rows: Sequence[Sequence[int]], symbols: Symbols, device: torch.device | None
) -> list[list[float]]:
    """Of every token of every row."""
    tokens, is_token = padded(sources, device=device)
    writing = model.start(tokens, is_token)
    time = max(map(len, rows))
    if not time:
        return [[] for _ in rows]
    inputs = torch.tensor([[symbols.start_id, *row, *[symbols.end_id] * (time - len(row))] for row in rows], device=tokens.device)
    is_input = torch.tensor([[True] * max(1, len(row)) + [False] * (time - max(1, len(row))) for row in rows], device=tokens.device)
    logits, _ = model.decode(inputs[:, :-1], is_input, writing)
    chosen = normalised(logits).gather(2, inputs[:, 1:].unsqueeze(2)).squeeze(2)  # (pairs, time)
    return [log_probs[: len(row)] for row, log_probs in zip(rows, chosen.double().tolist(), strict=True)]
