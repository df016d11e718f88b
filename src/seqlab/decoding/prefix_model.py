"""Search with any function that scores prefixes: no cache, no state, no base class."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.models.decoders.base import DecoderState

PrefixFunction = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(sources, source_is_token, prefixes) -> logits of the next token (rows, vocab), one row for each prefix.
A prefix begins with the start token.
"""


class PrefixModel:
    """A `Seq2SeqModel` around a function that computes the logits of the next token from a source and the
    whole prefix.

    The prefix is read again at every step, which costs O(T²) decoder steps. A model that keeps a state, or a
    KV cache, implements `encode` and `decode` of `Seq2SeqModel` itself.
    """

    def __init__(self, next_logits: PrefixFunction) -> None:
        self.next_logits = next_logits

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState:
        no_tokens = torch.zeros(len(source), 0, dtype=torch.long, device=source.device)
        return DecoderState((source, source_is_token), (no_tokens,))

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]:
        (prefixes,) = decoder_state.cache
        source, source_is_token = decoder_state.source
        per_source = len(targets) // len(source)  # hypotheses of one source are consecutive rows
        rows = (
            source.repeat_interleave(per_source, dim=0),
            source_is_token.repeat_interleave(per_source, dim=0),
        )
        logits = []
        for token in targets.unbind(dim=1):
            prefixes = torch.cat([prefixes, token.unsqueeze(1)], dim=1)
            logits.append(self.next_logits(*rows, prefixes))
        return torch.stack(logits, dim=1), decoder_state.with_cache((prefixes,))
