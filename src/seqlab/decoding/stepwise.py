"""Stepwise decoding: greedy or sampled, one token after the other, without backtracking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from seqlab.decoding.constraints import Constraint, SearchStep
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch, SpecialTokens, full_mask, to_log_probs
from seqlab.decoding.token_choice import TokenChooser


class StepwiseSearch(Search):
    """token_t = choose(P(· | source, tokens before t)), until the end token.

    A sentence whose targets have all ended leaves the batch.
    """

    def __init__(
        self,
        special_tokens: SpecialTokens,
        chooser: TokenChooser,
        *,
        max_tokens: int,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        super().__init__(special_tokens, max_tokens=max_tokens, constraints=constraints)
        self.chooser = chooser

    @torch.inference_mode()
    def run(self, model: Seq2SeqModel, sources: SourceBatch) -> list[list[Hypothesis]]:
        """The targets of each source, most likely first."""
        num_samples, device = self.chooser.num_samples, sources.tokens.device
        paths = [_OpenHypothesis(source_id) for source_id in sources.source_ids for _ in range(num_samples)]
        random_numbers = self.chooser.random_numbers(sources.source_ids, self.max_tokens).to(
            device
        )  # (sentences * draws, steps)
        decoder_state = model.encode(sources.tokens, sources.is_token)
        tokens = torch.full((len(sources.tokens),), self.special_tokens.start_id, device=device)
        running = paths
        for length in range(self.max_tokens):
            if not running:
                break
            logits, decoder_state = model.decode(tokens[:, None], full_mask(tokens[:, None]), decoder_state)
            log_probs = to_log_probs(logits[:, -1])  # (hypotheses, vocab)
            if length == 0 and num_samples > 1:  # all samples start identically
                repeated = torch.arange(len(log_probs), device=device).repeat_interleave(num_samples)
                log_probs, decoder_state = log_probs[repeated], decoder_state.select(repeated)
            tokens = self._extend(log_probs, running, random_numbers[:, length], length)
            unfinished = [
                index
                for index in range(0, len(running), num_samples)
                if any(path.is_open for path in running[index : index + num_samples])
            ]
            if len(unfinished) * num_samples < len(running):
                rows = torch.tensor(
                    [index + sample for index in unfinished for sample in range(num_samples)],
                    dtype=torch.long,
                    device=device,
                )
                kept = torch.tensor(
                    [index // num_samples for index in unfinished], dtype=torch.long, device=device
                )
                decoder_state, tokens, random_numbers = (
                    decoder_state.keep_sources(kept).select(rows),
                    tokens[rows],
                    random_numbers[rows],
                )
                running = [running[row] for row in rows.tolist()]
        hypotheses = [path.hypothesis for path in paths]
        return [
            sorted(hypotheses[index : index + num_samples], key=lambda target: -target.score)
            for index in range(0, len(hypotheses), num_samples)
        ]

    def _extend(
        self, log_probs: Tensor, running: list[_OpenHypothesis], random_numbers: Tensor, length: int
    ) -> Tensor:
        """Append a token to every open path; returns the chosen tokens."""
        step = SearchStep(
            log_probs, [path.source_id for path in running], lambda: [path.tokens for path in running], length
        )
        allowed = self.allowed_log_probs(step)
        tokens = self.chooser.choose(allowed, random_numbers).clamp_(max=allowed.shape[1] - 1)
        chosen = allowed.gather(1, tokens.unsqueeze(1)).squeeze(1)
        for path, token, log_prob in zip(running, tokens.tolist(), chosen.tolist(), strict=True):
            if path.is_open:
                path.add(token, log_prob, end_id=self.special_tokens.end_id)
        return tokens


@dataclass
class _OpenHypothesis:
    source_id: int
    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    is_open: bool = True
    ended: bool = False

    def add(self, token: int, log_prob: float, *, end_id: int) -> None:
        if log_prob == -torch.inf:  # nothing is allowed
            self.is_open = False
            return
        self.log_probs.append(log_prob)
        if token == end_id:
            self.is_open, self.ended = False, True
        else:
            self.tokens.append(token)

    @property
    def hypothesis(self) -> Hypothesis:
        return Hypothesis(self.tokens, self.log_probs, sum(self.log_probs), self.ended)
