"""Use `seqlab.nn` in a PyTorch model of your own: a packed bidirectional LSTM in a plain training loop.

`seqlab.nn.LSTM` has the arguments, shapes and parameter names of `torch.nn.LSTM`; `cell=` chooses another cell.
The model answers whether the first and the last token of a sequence are equal.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

import seqlab

VOCAB_SIZE = 4


class SameEnds(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, 8)
        self.lstm = seqlab.nn.LSTM(8, hidden_size, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden_size, 1)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)  # (directions, batch, hidden)
        return self.head(torch.cat([hidden[0], hidden[1]], dim=-1)).squeeze(-1)


def make_batch(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    lengths = torch.randint(2, 9, (size,), generator=generator)
    rows = [torch.randint(VOCAB_SIZE, (int(length),), generator=generator) for length in lengths]
    is_same = torch.rand(size, generator=generator) < 0.5
    for row, same in zip(rows, is_same, strict=True):
        row[-1] = row[0] if same else (row[0] + 1 + row[-1] % (VOCAB_SIZE - 1)) % VOCAB_SIZE
    return pad_sequence(rows, batch_first=True), lengths, is_same.float()


def main(*, steps: int = 300, hidden_size: int = 32) -> float:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = SameEnds(hidden_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(1, steps + 1):
        tokens, lengths, targets = make_batch(64, generator)
        loss = nn.functional.binary_cross_entropy_with_logits(model(tokens, lengths), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    tokens, lengths, targets = make_batch(1000, generator)
    accuracy = ((model(tokens, lengths) > 0) == targets.bool()).float().mean().item()
    print(f"accuracy on new sequences: {accuracy:.3f}")
    return accuracy


if __name__ == "__main__":
    main()
