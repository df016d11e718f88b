"""Toy translators whose every probability can be looked up, and the search that looks at everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from seqlab.core.seeds import derive
from seqlab.decoding.search import SpecialTokens
from seqlab.models.decoders.base import DecoderState

Tokens = tuple[int, ...]
END = 0
START = 99
"""Never looked at by the tables, so it needs no place in them."""
SYMBOLS = SpecialTokens(START, END)


@dataclass
class TableTranslator:
    """Random logits for every source and everything written so far; padding plays no part.

    Keeps the size of every batch that it sees.
    """

    vocab: int
    seed: int = 1
    spread: float = 1.5
    looks: bool = False
    """Whether anybody asks for the alignment, which takes time."""
    batches: list[int] = field(default_factory=list)
    rows: dict[tuple[str, Tokens, Tokens], Tensor] = field(default_factory=dict)

    def row(self, kind: str, source: Tokens, written: Tokens, size: int) -> Tensor:
        key = (kind, source, written)
        if key not in self.rows:
            generator = torch.Generator().manual_seed(derive(self.seed, kind, *source, "|", *written))
            self.rows[key] = torch.randn(size, generator=generator) * self.spread
        return self.rows[key]

    def log_prob(self, source: Tokens, written: Tokens, token: int) -> float:
        logits = self.row("logits", source, written, self.vocab).tolist()
        return float(logits[token] - math.log(sum(map(math.exp, logits))))

    def look(self, source: Tokens, written: Tokens) -> list[float]:
        return self.row("look", source, written, len(source)).double().softmax(-1).tolist()

    def encode(self, source: Tensor, source_is_token: Tensor) -> DecoderState:
        return DecoderState((source, source_is_token), (torch.zeros(len(source), 0, dtype=torch.long),))

    def decode(
        self, targets: Tensor, is_token: Tensor, decoder_state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        logits, decoder_state, _ = self.decode_with_alignment(targets, is_token, decoder_state)
        return logits, decoder_state

    def decode_with_alignment(
        self, targets: Tensor, is_token: Tensor, decoder_state: DecoderState
    ) -> tuple[Tensor, DecoderState, Tensor]:
        (before,) = decoder_state.cache
        self.batches.append(len(before))
        written = torch.cat([before, targets], dim=1)
        source, source_is_token = decoder_state.source
        each = len(written) // len(source)
        logits = torch.zeros(*targets.shape, self.vocab)
        alignment = torch.zeros(*targets.shape, source.shape[1])
        for row in range(len(written)):
            read = tuple(source[row // each][source_is_token[row // each]].tolist())
            for time in range(targets.shape[1]):
                known = tuple(written[row, 1 : before.shape[1] + time + 1].tolist())  # without the start
                logits[row, time] = self.row("logits", read, known, self.vocab)
                if self.looks:
                    alignment[row, time, : len(read)] = torch.tensor(self.look(read, known))
        return logits, decoder_state.with_cache((written,)), alignment


@dataclass(frozen=True)
class Found:
    """A complete target by plain arithmetic."""

    tokens: Tokens
    ended: bool
    log_prob: float
    score: float


@dataclass(frozen=True)
class Rules:
    """What the exhaustive search needs to know, in functions of its own."""

    score: Callable[[float, int], float] = lambda log_prob, _: log_prob
    may_follow: Callable[[Tokens, int], bool] = lambda _, __: True
    beta: float = 0.0


def everything(model: TableTranslator, source: Tokens, max_tokens: int, rules: Rules) -> list[Found]:
    """Every complete target, the best first."""
    return sorted(_complete(model, source, (), 0.0, max_tokens, rules), key=lambda found: -found.score)


def _complete(
    model: TableTranslator, source: Tokens, written: Tokens, log_prob: float, max_tokens: int, rules: Rules
) -> Iterator[Found]:
    def finished(tokens: Tokens, total: float, length: int, *, ended: bool) -> Found:
        looked = [model.look(source, tokens[:place]) for place in range(length)]
        missed = [math.log(min(1.0, sum(column))) for column in zip(*looked, strict=True)]
        return Found(tokens, ended, total, rules.score(total, length) + rules.beta * sum(missed))

    if len(written) == max_tokens:
        yield finished(written, log_prob, max_tokens, ended=False)
        return
    following = [token for token in range(model.vocab) if rules.may_follow(written, token)]
    if not following:
        yield finished(written, log_prob, len(written), ended=False)
    for token in following:
        total = log_prob + model.log_prob(source, written, token)
        if token == END:
            yield finished(written, total, len(written) + 1, ended=True)
        else:
            yield from _complete(model, source, (*written, token), total, max_tokens, rules)


def batch(sources: Sequence[Tokens], *, padding: int = 0) -> tuple[Tensor, Tensor]:
    time = max(map(len, sources)) + padding
    tokens = torch.tensor([[*source, *[0] * (time - len(source))] for source in sources])
    is_token = torch.tensor([[True] * len(source) + [False] * (time - len(source)) for source in sources])
    return tokens, is_token
