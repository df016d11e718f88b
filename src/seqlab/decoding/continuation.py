"""Continue a prompt token by token, carrying the state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.decoding.settings import DecodingSettings
from seqlab.decoding.truncation import sample_token
from seqlab.models.base import ModelState


class NextTokenModel(Protocol):
    """A language model: tokens and a state in, logits and the next state out."""

    def __call__(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time vocab"], ModelState]: ...


def generate_tokens(
    model: NextTokenModel,
    prompt: Sequence[int],
    settings: DecodingSettings,
    *,
    stop_ids: Collection[int] = (),
    suppressed_ids: Sequence[int] = (),
    context: int | None = None,
    device: torch.device | None = None,
) -> Iterator[int]:
    """Yield new tokens one by one until a stop token or the limit.

    `suppressed_ids` (padding, unknown) are never chosen. When the `context` of a model is full, it restarts
    from the last half of the tokens.
    """
    assert prompt, "a prompt has at least one token"
    generator = torch.Generator().manual_seed(settings.seed)
    suppressed = torch.tensor(suppressed_ids, dtype=torch.long)
    tokens = list(prompt)
    new_tokens = tokens[-context:] if context else tokens
    state: ModelState | None = None
    num_used = 0
    for _ in range(settings.max_tokens):
        if context and num_used + len(new_tokens) > context:
            new_tokens, state, num_used = tokens[-max(1, context // 2) :], None, 0
        logits, state = _advance(model, new_tokens, state, device)
        num_used += len(new_tokens)
        token = int(sample_token(logits.index_fill(1, suppressed, float("-inf")), settings, generator))
        if token in stop_ids:
            return
        yield token
        tokens.append(token)
        new_tokens = [token]


@torch.inference_mode()
def _advance(
    model: NextTokenModel, new_tokens: Sequence[int], state: ModelState | None, device: torch.device | None
) -> tuple[Float[Tensor, "1 vocab"], ModelState]:
    inputs = torch.tensor([new_tokens], device=device)
    logits, state = model(inputs, torch.ones_like(inputs, dtype=torch.bool), state)
    return logits[:, -1].float().cpu(), state
