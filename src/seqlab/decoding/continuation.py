"""Continuing a prompt token by token, with the state carried along."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.decoding.settings import DecodingSettings
from seqlab.decoding.truncation import choose
from seqlab.models.base import State


class NextToken(Protocol):
    """A language model: tokens and a state in, logits and the next state out."""

    def __call__(
        self, tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]: ...


def continue_tokens(
    model: NextToken,
    prompt: Sequence[int],
    settings: DecodingSettings,
    *,
    stop_ids: Collection[int] = (),
    never_ids: Sequence[int] = (),
    context: int | None = None,
    device: torch.device | None = None,
) -> Iterator[int]:
    """Yield new tokens one by one until a stop token or the limit.

    `never_ids` (padding, unknown) are never chosen. A model that sees at most `context` tokens is started again on the
    last half of them when they are used up.
    """
    assert prompt, "a prompt has at least one token"
    generator = torch.Generator().manual_seed(settings.seed)
    never = torch.tensor(never_ids, dtype=torch.long)
    tokens = list(prompt)
    fresh = tokens[-context:] if context else tokens
    state: State | None = None
    used = 0
    for _ in range(settings.max_tokens):
        if context and used + len(fresh) > context:
            fresh, state, used = tokens[-max(1, context // 2) :], None, 0
        logits, state = _advance(model, fresh, state, device)
        used += len(fresh)
        token = int(choose(logits.index_fill(1, never, float("-inf")), settings, generator))
        if token in stop_ids:
            return
        yield token
        tokens.append(token)
        fresh = [token]


@torch.inference_mode()
def _advance(model: NextToken, fresh: Sequence[int], state: State | None, device: torch.device | None) -> tuple[Float[Tensor, "1 vocab"], State]:
    inputs = torch.tensor([fresh], device=device)
    logits, state = model(inputs, torch.ones_like(inputs, dtype=torch.bool), state)
    return logits[:, -1].float().cpu(), state
