"""The most likely target of all, found without scoring every one."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch, full_mask, to_log_probs
from seqlab.decoding.search_tree import Node


class ExactSearch(Search):
    """Branch and bound: argmax of log P(target | source) over all targets of at most `max_tokens` tokens.

    A log-probability only falls as a target grows, so a hypothesis that is less likely than the best complete
    target is dropped with all its continuations. Probabilities of hypotheses of one length sum to at most 1,
    so at most 1 / P(best target so far) of them remain. `first` is a cheaper search that gives the first bound.

    Paper: Stahlberg & Byrne 2019, "On NMT Search Errors and Model Errors: Cat Got Your Tongue?",
    arXiv:1908.10090, section 3.
    """

    def __init__(self, first: Search) -> None:
        super().__init__(first.special_tokens, max_tokens=first.max_tokens)
        self.first = first

    @torch.inference_mode()
    def run(self, model: Seq2SeqModel, sources: SourceBatch) -> list[list[Hypothesis]]:
        """One target for each source."""
        bounds = self.first.run(model, sources)
        return [[self._search(model, sources, row, bounds[row][0])] for row in range(len(bounds))]

    def _search(self, model: Seq2SeqModel, sources: SourceBatch, row: int, best: Hypothesis) -> Hypothesis:
        state = model.encode(sources.tokens[row : row + 1], sources.is_token[row : row + 1])
        tokens, nodes = torch.tensor([[self.special_tokens.start_id]]), [Node(None, -1, 0.0)]
        for length in range(1, self.max_tokens + 1):
            logits, state = model.decode(tokens, full_mask(tokens), state)
            sums = torch.tensor([[node.log_prob] for node in nodes], dtype=torch.float64)
            totals = sums + to_log_probs(logits[:, -1])  # (hypotheses, vocab)
            totals[:, list(self.special_tokens.suppressed_ids)] = -torch.inf
            best = self._best_complete(best, totals, nodes, length)
            parents, newest = (totals > best.log_prob).nonzero(as_tuple=True)  # none has ended
            if not len(parents):
                break
            log_probs = totals[parents, newest].tolist()
            nodes = [
                Node(nodes[parent], token, log_prob)
                for parent, token, log_prob in zip(parents.tolist(), newest.tolist(), log_probs, strict=True)
            ]
            tokens, state = newest.unsqueeze(1), state.select(parents)
        return best

    def _best_complete(
        self, best: Hypothesis, totals: Float[Tensor, "hypotheses vocab"], nodes: list[Node], length: int
    ) -> Hypothesis:
        """The best target that is complete at this length, if it beats the best so far."""
        end = self.special_tokens.end_id
        complete = totals if length == self.max_tokens else totals[:, end : end + 1]
        parent, column = divmod(int(complete.argmax()), complete.shape[1])
        log_prob = complete[parent, column].item()
        if log_prob <= best.log_prob:
            return best
        token = column if length == self.max_tokens else end
        target, ended = Node(nodes[parent], token, log_prob), token == end
        tokens = target.tokens()[:-1] if ended else target.tokens()
        return Hypothesis(tokens, target.token_log_probs(), log_prob, ended)
