"""Train a PyTorch model of your own on data of your own with `seqlab.Trainer`, and no training loop.

After every bracket, the model answers whether three or more brackets are open. The sequences have different lengths, so
`collate` pads them and `forward` leaves the padding out of the loss. Stop the script with Ctrl-C and start it again: it
continues where it was, and the result is the same.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

import seqlab

Example = tuple[Tensor, Tensor]


class BracketCounter(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(2, 8)
        self.lstm = seqlab.nn.LSTM(8, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, 2)

    def forward(self, brackets: Tensor) -> Tensor:
        hidden, _ = self.lstm(self.embed(brackets))
        return self.head(hidden)  # (batch, time, 2)


def make_example(draw: random.Random) -> Example:
    """Brackets (1 opens, 0 closes), and whether three or more are open after each."""
    brackets, depths, depth = [], [], 0
    for _ in range(draw.randint(5, 30)):
        opens = depth == 0 or draw.random() < 0.5
        depth += 1 if opens else -1
        brackets.append(int(opens))
        depths.append(depth)
    return torch.tensor(brackets), (torch.tensor(depths) >= 3).long()


def collate(examples: list[Example]) -> Example:
    brackets, targets = zip(*examples, strict=True)
    return pad_sequence(brackets, batch_first=True), pad_sequence(targets, batch_first=True, padding_value=-1)


def forward(model: nn.Module, batch: Example) -> Example:
    """Outputs and targets of the real steps."""
    brackets, targets = batch
    is_real = targets >= 0
    return model(brackets)[is_real], targets[is_real]


def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.argmax(dim=1) == targets).float().mean()


def main(*, steps: int = 400, out: str = "runs/brackets") -> seqlab.trainer.History:
    torch.manual_seed(1)
    examples = [make_example(random.Random(number)) for number in range(1200)]
    history = seqlab.Trainer(
        BracketCounter(hidden_size=32),
        nn.functional.cross_entropy,
        train=examples[:1000],
        valid=examples[1000:],
        collate=collate,
        forward=forward,
        metrics={"accuracy": accuracy},
        steps=steps,
        learning_rate=0.01,
        out=out,
    ).fit(resume=True)
    print(f"validation accuracy {history.best['valid_accuracy']:.3f} after step {history.best_step}")
    return history


if __name__ == "__main__":
    main()
