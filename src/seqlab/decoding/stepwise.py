"""One token after the other: the likeliest, or drawn. What was chosen is never taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from seqlab.decoding.constraints import Constraint, Step
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Translator
from seqlab.decoding.search import Search, Sources, Symbols, normalised, ones_like
from seqlab.decoding.token_choice import Chooser


class SinglePath(Search):
    """token_t = choose(P(· | source, tokens before t)), until the end token. A sentence whose targets have all ended leaves the batch."""

    def __init__(self, symbols: Symbols, chooser: Chooser, *, max_tokens: int, constraints: Sequence[Constraint] = ()) -> None:
        super().__init__(symbols, max_tokens=max_tokens, constraints=constraints)
        self.chooser = chooser

    @torch.inference_mode()
    def run(self, model: Translator, sources: Sources) -> list[list[Hypothesis]]:
        """The targets of each source, the likeliest first."""
        draws, device = self.chooser.num_draws, sources.tokens.device
        paths = [_Path(number) for number in sources.numbers for _ in range(draws)]
        luck = self.chooser.luck(sources.numbers, self.max_tokens).to(device)  # (sentences * draws, steps)
        writing = model.start(sources.tokens, sources.is_token)
        tokens = torch.full((len(sources.tokens),), self.symbols.start_id, device=device)
        running = paths
        for length in range(self.max_tokens):
            if not running:
                break
            logits, writing = model.decode(tokens[:, None], ones_like(tokens[:, None]), writing)
            log_probs = normalised(logits[:, -1])  # (hypotheses, vocab)
            if length == 0 and draws > 1:  # all draws begin alike
                each = torch.arange(len(log_probs), device=device).repeat_interleave(draws)
                log_probs, writing = log_probs[each], writing.pick(each)
            tokens = self._go_on(log_probs, running, luck[:, length], length)
            staying = [place for place in range(0, len(running), draws) if any(path.is_open for path in running[place : place + draws])]
            if len(staying) * draws < len(running):
                rows = torch.tensor([place + draw for place in staying for draw in range(draws)], dtype=torch.long, device=device)
                kept = torch.tensor([place // draws for place in staying], dtype=torch.long, device=device)
                writing, tokens, luck = writing.keep(kept).pick(rows), tokens[rows], luck[rows]
                running = [running[row] for row in rows.tolist()]
        found = [path.hypothesis for path in paths]
        return [sorted(found[place : place + draws], key=lambda target: -target.score) for place in range(0, len(found), draws)]

    def _go_on(self, log_probs: Tensor, running: list[_Path], luck: Tensor, length: int) -> Tensor:
        """Add a token to every path that is open; the tokens that were chosen."""
        step = Step(log_probs, [path.number for path in running], lambda: [path.tokens for path in running], length)
        allowed = self.allowed(step)
        tokens = self.chooser.choose(allowed, luck).clamp_(max=allowed.shape[1] - 1)
        chosen = allowed.gather(1, tokens.unsqueeze(1)).squeeze(1)
        for path, token, log_prob in zip(running, tokens.tolist(), chosen.tolist(), strict=True):
            if path.is_open:
                path.add(token, log_prob, end_id=self.symbols.end_id)
        return tokens


@dataclass
class _Path:
    number: int
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
