"""A linear-chain conditional random field (CRF): learns which tags follow each other and predicts all tags of
a sentence jointly.

    score(tags)     = start[tag_1] + Σ_t logits_t[tag_t] + Σ_t transitions[tag_t, tag_{t+1}] + end[tag_T]
    P(tags | words) = exp(score(tags)) / Z,   Z = Σ over all sequences of tags of exp(score)

    forward[t, k]   = log Σ over tags_1..t that end in k       = logits_t[k] + log Σ_j exp(forward[t-1, j] + transitions[j, k])
    backward[t, j]  = log Σ over tags_t+1..T that follow j     = log Σ_k exp(transitions[j, k] + logits_{t+1}[k] + backward[t+1, k])
    log Z           = log Σ_k exp(forward[T, k] + end[k])
    P(tag_t = k)    = exp(forward[t, k] + backward[t, k] - log Z)

The best sequence takes the largest value where log Z sums (Viterbi).

Papers: Lafferty, McCallum & Pereira 2001, "Conditional Random Fields", ICML; on top of a bidirectional LSTM:
Huang, Xu & Yu 2015, "Bidirectional LSTM-CRF Models for Sequence Tagging", arXiv:1508.01991.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Logits = Float[Tensor, "batch words tags"]
IsWord = Bool[Tensor, "batch words"]
"""The words of a sentence come first; every sentence has at least one."""


class CRF(nn.Module):
    """Scores of whole sequences of tags.

    All transitions start at zero, so training starts from independent tags.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(num_tags))
        self.transitions = nn.Parameter(torch.zeros(num_tags, num_tags))  # (from, to)
        self.end = nn.Parameter(torch.zeros(num_tags))

    def forward(
        self, logits: Logits, tags: Int[Tensor, "batch words"], is_word: IsWord
    ) -> Float[Tensor, " batch"]:
        """-log P(tags | words) of each sentence; tags outside `is_word` are ignored."""
        return self.log_partition(logits, is_word) - self.score(logits, tags, is_word)

    def score(
        self, logits: Logits, tags: Int[Tensor, "batch words"], is_word: IsWord
    ) -> Float[Tensor, " batch"]:
        """The score of one tag sequence for each sentence."""
        tags = torch.where(is_word, tags, 0)
        emissions = logits.gather(2, tags.unsqueeze(2)).squeeze(2)  # (batch, words)
        steps = self.transitions[tags[:, :-1], tags[:, 1:]]  # (batch, words - 1)
        last = tags.gather(1, is_word.sum(dim=1, keepdim=True) - 1).squeeze(1)  # (batch,)
        return (
            self.start[tags[:, 0]]
            + (emissions * is_word).sum(dim=1)
            + (steps * is_word[:, 1:]).sum(dim=1)
            + self.end[last]
        )

    def log_partition(self, logits: Logits, is_word: IsWord) -> Float[Tensor, " batch"]:
        """log Z of each sentence."""
        return torch.logsumexp(self._forward_scores(logits, is_word)[-1] + self.end, dim=1)

    def log_marginals(self, logits: Logits, is_word: IsWord) -> Logits:
        """log P(tag_t = k | words) at every word; undefined outside `is_word`."""
        both = torch.stack(self._forward_scores(logits, is_word), dim=1) + torch.stack(
            self._backward_scores(logits, is_word), dim=1
        )
        return both - torch.logsumexp(both, dim=2, keepdim=True)  # that sum is log Z at every word

    def viterbi_decode(self, logits: Logits, is_word: IsWord) -> Int[Tensor, "batch words"]:
        """The tag sequence with the highest score for each sentence."""
        emissions, live = logits.unbind(1), is_word.unsqueeze(2).unbind(1)
        highest, pointers = self.start + emissions[0], []
        for emission, is_live in zip(emissions[1:], live[1:], strict=True):
            values, came_from = (highest.unsqueeze(2) + self.transitions).max(dim=1)  # (batch, tags) each
            highest = torch.where(is_live, values + emission, highest)
            pointers.append(came_from)
        tag = (highest + self.end).argmax(dim=1, keepdim=True)  # (batch, 1)
        path = [tag]
        for came_from, is_live in zip(reversed(pointers), reversed(live[1:]), strict=True):
            tag = torch.where(is_live, came_from.gather(1, tag), tag)
            path.append(tag)
        return torch.cat(path[::-1], dim=1)

    def _forward_scores(self, logits: Logits, is_word: IsWord) -> list[Float[Tensor, "batch tags"]]:
        """The forward scores at every word; after the end of a sentence, those of its last word."""
        emissions, live = logits.unbind(1), is_word.unsqueeze(2).unbind(1)
        forward = [self.start + emissions[0]]
        for emission, is_live in zip(emissions[1:], live[1:], strict=True):
            added = (
                torch.logsumexp(forward[-1].unsqueeze(2) + self.transitions, dim=1) + emission
            )  # (batch, tags)
            forward.append(torch.where(is_live, added, forward[-1]))
        return forward

    def _backward_scores(self, logits: Logits, is_word: IsWord) -> list[Float[Tensor, "batch tags"]]:
        """The backward scores at every word; from the last word of a sentence on, the end scores."""
        emissions, live = logits.unbind(1), is_word.unsqueeze(2).unbind(1)
        ending = self.end.expand_as(emissions[0])
        backward = [ending]
        for emission, is_live in zip(reversed(emissions[1:]), reversed(live[1:]), strict=True):
            added = torch.logsumexp(
                self.transitions + (emission + backward[-1]).unsqueeze(1), dim=2
            )  # (batch, tags)
            backward.append(torch.where(is_live, added, ending))
        return backward[::-1]
