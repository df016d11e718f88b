"""Forced scoring: the log-probability of given targets."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.batched_decoding import pad_sources
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prepared_decoder import DecodableModel, parameter_device, step_model
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import SpecialTokens, to_log_probs

BATCH_SIZE = 16
"""Pairs per batch."""


def score_targets(
    model: DecodableModel,
    sources: Sequence[Shaped[Tensor, "source *features"]],
    targets: Sequence[Sequence[int]],
    special_tokens: SpecialTokens,
    *,
    ended: Sequence[bool] | None = None,
    device: torch.device | None = None,
) -> list[Hypothesis]:
    """log P(target | source) = Σ_t log P(token_t | source, tokens before), one target for each source, the
    end token included.

    To compare two translations of one source, pass the source twice. `ended` is False for targets without an
    end token, for which only the tokens count. Pairs of similar length are batched, and results are in the
    original order.
    """
    if len(sources) != len(targets):
        raise UsageError(
            f"{len(sources)} sources do not match {len(targets)} targets.",
            cure="Pass exactly one target for each source.",
        )
    network, device = step_model(model), device or parameter_device(model)
    ends = list(ended) if ended is not None else [True] * len(targets)
    order = sorted(range(len(targets)), key=lambda index: (len(targets[index]), len(sources[index])))
    hypotheses: list[Hypothesis | None] = [None] * len(targets)
    for start in range(0, len(order), BATCH_SIZE):
        indices = order[start : start + BATCH_SIZE]
        rows = [[*targets[index], *([special_tokens.end_id] if ends[index] else [])] for index in indices]
        for index, row, log_probs in zip(
            indices,
            rows,
            _score_batch(network, [sources[index] for index in indices], rows, special_tokens, device),
            strict=True,
        ):
            assert len(row) == len(log_probs)
            hypotheses[index] = Hypothesis(list(targets[index]), log_probs, sum(log_probs), ends[index])
    return [hypothesis for hypothesis in hypotheses if hypothesis is not None]


@torch.inference_mode()
def _score_batch(
    model: Seq2SeqModel,
    sources: Sequence[Tensor],
    rows: Sequence[Sequence[int]],
    special_tokens: SpecialTokens,
    device: torch.device | None,
) -> list[list[float]]:
    """The log-probability of every token of every row."""
    tokens, is_token = pad_sources(sources, device=device)
    decoder_state = model.encode(tokens, is_token)
    time = max(map(len, rows))
    if not time:
        return [[] for _ in rows]
    inputs = torch.tensor(
        [[special_tokens.start_id, *row, *[special_tokens.end_id] * (time - len(row))] for row in rows],
        device=tokens.device,
    )
    is_input = torch.tensor(
        [[True] * max(1, len(row)) + [False] * (time - max(1, len(row))) for row in rows],
        device=tokens.device,
    )
    logits, _ = model.decode(inputs[:, :-1], is_input, decoder_state)
    chosen = to_log_probs(logits).gather(2, inputs[:, 1:].unsqueeze(2)).squeeze(2)  # (pairs, time)
    return [log_probs[: len(row)] for row, log_probs in zip(rows, chosen.double().tolist(), strict=True)]
