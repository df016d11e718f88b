"""The two ways to join a decoder's state with what it finds, in plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.attention.additive import AdditiveScore
from seqlab.attention.attend import Attention
from seqlab.attention.general import GeneralScore
from seqlab.attention.recording import record_alignments
from seqlab.blocks.attention_step import InputFeeding, OutputAttention
from seqlab.cells.lstm import LSTM
from seqlab.cells.rnn import RNN
from tests.attention.scores_to_try import numbers, randomised

Row = list[float]
STATE, SOURCE_SIZE, TIME, SOURCE = 3, 5, 4, 6
LENGTHS = [6, 2]
MAY_ATTEND = (torch.arange(SOURCE) < torch.tensor(LENGTHS)[:, None]).unsqueeze(1)


def times(matrix: list[Row], vector: Row) -> Row:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def context_of(score: GeneralScore, state: Row, source: list[Row]) -> Row:
    w = score.project_key.weight.tolist()
    powers = [math.exp(sum(a * b for a, b in zip(state, times(w, step), strict=True))) for step in source]
    return [
        sum(p * step[feature] for p, step in zip(powers, source, strict=True)) / sum(powers)
        for feature in range(SOURCE_SIZE)
    ]


@pytest.mark.spec(131)
def test_the_context_stands_beside_the_state_and_never_enters_the_cell() -> None:
    score = GeneralScore(STATE, SOURCE_SIZE)
    step = OutputAttention(Attention(score), value_size=SOURCE_SIZE)
    randomised(step)
    states, encoded = numbers(2, TIME, STATE), numbers(2, SOURCE, SOURCE_SIZE, seed=2)
    joined = step(states, step.attention.project_source(encoded), MAY_ATTEND)
    assert joined.shape == (2, TIME, step.output_size)
    for row, length in enumerate(LENGTHS):
        for time in range(TIME):
            state = states[row, time].tolist()
            expected = [*state, *context_of(score, state, encoded[row, :length].tolist())]
            assert joined[row, time].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.spec(131)
def test_all_steps_at_once_give_what_step_by_step_gives() -> None:
    step = OutputAttention(Attention(AdditiveScore(STATE, SOURCE_SIZE)), value_size=SOURCE_SIZE)
    randomised(step)
    states, encoded = numbers(2, TIME, STATE), numbers(2, SOURCE, SOURCE_SIZE, seed=2)
    source = step.attention.project_source(encoded)
    whole = step(states, source, MAY_ATTEND)
    for time in range(TIME):
        torch.testing.assert_close(
            step(states[:, time : time + 1], source, MAY_ATTEND)[:, 0], whole[:, time], rtol=0, atol=1e-12
        )


@pytest.mark.spec(131)
def test_input_feeding_follows_its_equations_through_a_plain_recurrence() -> None:
    score = GeneralScore(STATE, SOURCE_SIZE)
    feeding = InputFeeding(Attention(score), value_size=SOURCE_SIZE, output_size=2)
    cell = RNN(1 + 2, STATE)
    randomised(feeding)
    randomised(cell)
    inputs, encoded = numbers(2, TIME, 1), numbers(2, SOURCE, SOURCE_SIZE, seed=2)
    source, state, attentional = (
        feeding.attention.project_source(encoded),
        cell.zero_state(inputs),
        feeding.initial_feed(inputs[:, 0]),
    )
    found = []
    for time in range(TIME):
        hidden, state = cell(feeding.feed_input(inputs[:, time], attentional), state)
        attentional = feeding(hidden, source, MAY_ATTEND)
        found.append(attentional)

    w, u, b = cell.input.tolist(), cell.recurrent.tolist(), cell.bias.tolist()  # it has one
    for row, length in enumerate(LENGTHS):
        hidden_row, fed = [0.0] * STATE, [0.0] * 2
        for time in range(TIME):
            sums = zip(times(w, [*inputs[row, time].tolist(), *fed]), times(u, hidden_row), b, strict=True)
            hidden_row = [math.tanh(x + h + bias) for x, h, bias in sums]
            context = context_of(score, hidden_row, encoded[row, :length].tolist())
            fed = [math.tanh(x) for x in times(feeding.combine.weight.tolist(), [*context, *hidden_row])]
            assert found[time][row].tolist() == pytest.approx(fed, abs=1e-12)


@pytest.mark.spec(131)
def test_with_input_feeding_a_step_depends_on_where_the_steps_before_it_looked() -> None:
    """Another source for the first step only: with the context before the output, the second step does not
    notice.
    """
    encoded, other = numbers(1, SOURCE, SOURCE_SIZE, seed=2), numbers(1, SOURCE, SOURCE_SIZE, seed=5)
    attention = Attention(GeneralScore(STATE, SOURCE_SIZE))
    feeding = InputFeeding(attention, value_size=SOURCE_SIZE, output_size=2)
    beside = OutputAttention(attention, value_size=SOURCE_SIZE)
    fed_cell, plain_cell = LSTM(3, STATE), LSTM(1, STATE)
    for module in (feeding, beside, fed_cell, plain_cell):
        randomised(module)
    inputs = numbers(1, 2, 1)

    def second_outputs(first_source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sources = [attention.project_source(first_source), attention.project_source(encoded)]
        fed, plain, attentional = (
            fed_cell.zero_state(inputs),
            plain_cell.zero_state(inputs),
            feeding.initial_feed(inputs[:, 0]),
        )
        for time, source in enumerate(sources):
            hidden, fed = fed_cell(feeding.feed_input(inputs[:, time], attentional), fed)
            attentional = feeding(hidden, source)
            shown, plain = plain_cell(inputs[:, time], plain)
            joined = beside(shown.unsqueeze(1), source)
        return attentional, joined

    (fed, plain), (fed_elsewhere, plain_elsewhere) = second_outputs(encoded), second_outputs(other)
    assert torch.equal(plain, plain_elsewhere)
    assert not torch.allclose(fed, fed_elsewhere)


def test_both_show_their_alignments() -> None:
    attention = Attention(GeneralScore(STATE, SOURCE_SIZE)).double()
    step = OutputAttention(attention, value_size=SOURCE_SIZE)
    states, encoded = numbers(2, TIME, STATE), numbers(2, SOURCE, SOURCE_SIZE, seed=2)
    with record_alignments(step) as alignments:
        step(states, attention.project_source(encoded), MAY_ATTEND)
    assert alignments["attention"][0].shape == (2, 1, TIME, SOURCE)
