"""Greedy targets against taking the best token of the whole forward pass again and again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.decoding.greedy_pairs import decode_greedily
from seqlab.models.decoder import Writing
from seqlab.models.encoder_decoder import EncoderDecoder
from tests.models.pairs_to_try import END, PAD, SMALL, START, build_pair, ragged_pairs

LENGTHS = [4, 7, 1, 3, 6]


@torch.no_grad()
def slowly(model: EncoderDecoder, source: Tensor, length: int, *, max_tokens: int, never: int | None = None) -> list[int]:
    """One source at a time, the whole target anew for every token."""
    tokens = [START]
    while len(tokens) <= max_tokens:
        targets = torch.tensor([tokens])
        logits = model(source[None, :length], torch.ones(1, length, dtype=torch.bool), targets, torch.ones_like(targets, dtype=torch.bool))[0, -1]
        best = max((token for token in range(len(logits)) if token != never), key=lambda token: float(logits[token]))
        if best == END:
            break
        tokens.append(best)
    return tokens[1:]


def model_that_ends() -> EncoderDecoder:
    """Random weights large enough that targets differ, and a bias for the end."""
    model = build_pair(SMALL, seed=4, noise=0.9)
    with torch.no_grad():
        model.bias[END] += 6
    return model


@pytest.mark.spec(162)
@pytest.mark.parametrize("never", [None, 5])
def test_it_equals_the_best_token_of_the_whole_pass_again_and_again(never: int | None) -> None:
    model, given = model_that_ends(), ragged_pairs(LENGTHS, [1] * 5)
    found = decode_greedily(
        model, given.source, given.source_is_token, start_id=START, end_id=END, max_tokens=9, never_ids=() if never is None else (never,)
    )
    expected = [slowly(model, source, length, max_tokens=9, never=never) for source, length in zip(given.source, LENGTHS, strict=True)]
    assert found == expected
    assert len({len(target) for target in found}) > 1  # they end at different times


def test_the_order_of_a_batch_and_more_padding_change_nothing() -> None:
    model, given = model_that_ends(), ragged_pairs(LENGTHS, [1] * 5)
    expected = decode_greedily(model, given.source, given.source_is_token, start_id=START, end_id=END, max_tokens=9)
    order = [3, 0, 4, 4]
    wider, is_wider = (torch.nn.functional.pad(each[order], (0, 3)) for each in (given.source, given.source_is_token))
    found = decode_greedily(model, wider, is_wider, start_id=START, end_id=END, max_tokens=9)
    assert found == [expected[row] for row in order]


class Countdown:
    """Its target counts the source's first token down to 3, then ends; keeps the size of every batch that it sees."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def start(self, source: Tensor, source_is_token: Tensor) -> Writing:
        return Writing((), (source[:, 0],))

    def decode(self, targets: Tensor, is_token: Tensor, writing: Writing) -> tuple[Tensor, Writing]:
        (left,) = writing.past
        self.batches.append(len(left))
        wanted = torch.where(left > 2, left, END)  # (batch,)
        return torch.nn.functional.one_hot(wanted, 12).float()[:, None], writing.after((left - 1,))


def test_a_target_that_has_ended_leaves_the_batch() -> None:
    model = Countdown()
    source = torch.tensor([[5], [2], [7], [3]])
    found = decode_greedily(model, source, torch.ones_like(source, dtype=torch.bool), start_id=START, end_id=END, max_tokens=20)
    assert found == [[5, 4, 3], [], [7, 6, 5, 4, 3], [3]]
    assert model.batches == [4, 3, 2, 2, 1, 1]


def test_a_target_that_does_not_end_is_cut() -> None:
    source = torch.tensor([[9], [4]])
    found = decode_greedily(Countdown(), source, torch.ones_like(source, dtype=torch.bool), start_id=START, end_id=END, max_tokens=3)
    assert found == [[9, 8, 7], [4, 3]]
    assert decode_greedily(Countdown(), source[:0], torch.ones(0, 1, dtype=torch.bool), start_id=START, end_id=END, max_tokens=3) == []


def test_nothing_is_left_on_for_gradients() -> None:
    model, given = build_pair(), ragged_pairs([3], [1])
    decode_greedily(model, given.source, given.source_is_token, start_id=START, end_id=PAD, max_tokens=2)
    assert all(parameter.grad is None for parameter in model.parameters())
