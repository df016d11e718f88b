"""Decode a PyTorch model of your own with seqlab's beam search.

A search needs one function: the logits of the next token, given the sources and the prefixes. `PrefixModel` wraps
it. Greedy decoding, sampling, length penalties and constraints work with it as well. A wide beam is compared
with a search through all targets: here the most probable one is empty, which is why beam search has a length penalty.
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor, nn

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prefix_model import PrefixModel
from seqlab.decoding.search import SourceBatch, SpecialTokens

VOCAB_SIZE, START, END = 5, 3, 4  # tokens 0, 1 and 2 can be generated


class TinyTranslator(nn.Module):
    """Your model: a GRU reads the source, and another one the prefix."""

    def __init__(self, hidden_size: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, hidden_size)
        self.encoder = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.decoder = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, VOCAB_SIZE)

    def forward(self, sources: Tensor, is_token: Tensor, prefixes: Tensor) -> Tensor:
        _, state = self.encoder(self.embed(sources))
        features, _ = self.decoder(self.embed(prefixes), state)
        return 3 * self.head(features[:, -1])


def exhaustive_search(model: nn.Module, source: Tensor, max_tokens: int) -> tuple[list[int], float]:
    """The most probable of all targets, each scored on its own."""
    scores: dict[tuple[int, ...], float] = {}
    for length in range(max_tokens + 1):
        for target in product(range(3), repeat=length):
            tokens = [START, *target] + ([END] if length < max_tokens else [])
            scores[target] = sum(
                model(source, source >= 0, torch.tensor([tokens[:place]]))
                .log_softmax(-1)[0, tokens[place]]
                .item()
                for place in range(1, len(tokens))
            )
    best = max(scores, key=scores.__getitem__)
    return list(best), scores[best]


@torch.inference_mode()
def main(*, max_tokens: int = 4, seed: int = 1) -> tuple[Hypothesis, tuple[list[int], float]]:
    torch.manual_seed(seed)
    model = TinyTranslator()
    sources = torch.tensor([[0, 2, 1, 1]])
    batch = SourceBatch.from_tokens(sources, sources >= 0)
    special_tokens = SpecialTokens(START, END, suppressed_ids=(START,))
    for beam_size in (1, 3, 81):
        search = BeamSearch(special_tokens, beam_size=beam_size, max_tokens=max_tokens)
        ((best,),) = search.run(PrefixModel(model), batch)
        print(f"beam {beam_size:2}: {best.tokens}, log P {best.log_prob:.4f}")
    exact = exhaustive_search(model, sources, max_tokens)
    print(f"all targets: {exact[0]}, log P {exact[1]:.4f}")
    return best, exact


if __name__ == "__main__":
    main()
