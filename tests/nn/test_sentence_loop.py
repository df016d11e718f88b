"""The loop of the lecture: word by word through a sentence, the state carried, the last prediction the guess
at the next word.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab import nn

SENTENCES = [
    ["I", "love", "recurrent", "neural", "networks"],
    ["we", "love", "recurrent", "neural", "models"],
]
WORDS = sorted({word for sentence in SENTENCES for word in sentence})


def read(cell: Any, head: torch.nn.Linear, words: list[str]) -> Tensor:
    """Logits of the next word after the last one."""
    state, prediction = None, torch.empty(0)
    for word in words:
        state = cell(torch.eye(len(WORDS))[WORDS.index(word)], state)
        prediction = head(state[0] if isinstance(state, tuple) else state)
    return prediction


@pytest.mark.spec(20)
@pytest.mark.parametrize(
    "build",
    [
        lambda: nn.RNNCell(len(WORDS), 8),
        lambda: nn.LSTMCell(len(WORDS), 8, cell="coupled"),
        lambda: nn.GRUCell(len(WORDS), 8, cell="single_gate"),
    ],
    ids=["rnn", "coupled", "single gate"],
)
def test_the_last_prediction_is_the_next_word_and_depends_on_the_first(build: Any) -> None:
    torch.manual_seed(0)
    cell, head = build(), torch.nn.Linear(8, len(WORDS))
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.05)
    for _ in range(50):
        optimizer.zero_grad()
        logits = torch.stack([read(cell, head, sentence[:-1]) for sentence in SENTENCES])
        torch.nn.functional.cross_entropy(
            logits, torch.tensor([WORDS.index(sentence[-1]) for sentence in SENTENCES])
        ).backward()
        optimizer.step()
    for sentence in SENTENCES:  # only the first word tells the two apart
        assert WORDS[int(read(cell, head, sentence[:-1]).argmax())] == sentence[-1]
