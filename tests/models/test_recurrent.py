"""The recurrent backbone's own promises."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from seqlab.blocks.merge import LearnedMerge
from seqlab.blocks.recurrent_layer import BidirectionalLayer, UnidirectionalLayer
from seqlab.cells.lstm import LSTM
from seqlab.cells.peephole_lstm import PeepholeLSTM
from seqlab.core.errors import ArgumentError
from seqlab.models.recurrent import RecurrentBackbone
from seqlab.models.settings.recurrent import RecurrentSettings
from tests.models.settings_to_try import build, ragged, recurrent


@pytest.mark.spec(80)
def test_reading_backwards_is_refused_where_the_future_is_asked_for() -> None:
    with pytest.raises(ArgumentError) as caught:
        RecurrentBackbone.from_settings(RecurrentSettings(bidirectional=True), causal=True)
    assert caught.value.argument == "bidirectional"
    assert "the future" in caught.value.what
    assert "false" in caught.value.cure


@pytest.mark.spec(80)
def test_dense_prediction_may_read_in_both_directions_and_every_step_then_sees_the_future() -> None:
    backbone = build(recurrent("gru", bidirectional=True), causal=False)
    steps, is_token = ragged([6], backbone.input_size)
    steps.requires_grad_()
    (reach,) = torch.autograd.grad(backbone(steps, is_token)[0][0, 0].square().sum(), steps)
    assert (reach[0].abs().sum(dim=-1) > 0).all()


def test_what_enters_is_as_wide_as_the_first_layer_unless_said() -> None:
    assert RecurrentBackbone.from_settings(recurrent("lstm", hidden_size=7), causal=True).input_size == 7
    assert (
        RecurrentBackbone.from_settings(
            recurrent("lstm", hidden_size=7, embedding_size=3), causal=True
        ).input_size
        == 3
    )
    assert (
        RecurrentBackbone.from_settings(
            recurrent("lstm", hidden_size=7, hidden_sizes=[4, 2]), causal=True
        ).input_size
        == 4
    )


def parts_of(settings: RecurrentSettings) -> list[Any]:
    return list(RecurrentBackbone.from_settings(settings, causal=False).stack.layers)


@pytest.mark.spec(77)
def test_a_width_for_each_layer_replaces_layers_and_hidden_size() -> None:
    layers = parts_of(recurrent("gru", hidden_sizes=[7, 3, 5], layers=2, embedding_size=4))
    assert [(layer.cell.input_size, layer.cell.hidden_size) for layer in layers] == [(4, 7), (7, 3), (3, 5)]


def test_every_layer_and_direction_gets_a_cell_with_the_options() -> None:
    layers = parts_of(
        recurrent(
            {"kind": "peephole_lstm", "peepholes": "full", "gates": ["forget"]},
            layers=2,
            bidirectional=True,
            merge="learned",
        )
    )
    for layer in layers:
        assert isinstance(layer, BidirectionalLayer)
        assert isinstance(layer.merge, LearnedMerge)
        for direction, reverse in ((layer.onward, False), (layer.backward, True)):
            assert isinstance(direction, UnidirectionalLayer)
            assert isinstance(direction.cell, PeepholeLSTM)
            assert direction.reverse == reverse
    assert len({id(direction.cell) for layer in layers for direction in (layer.onward, layer.backward)}) == 4


def test_the_options_of_an_lstm_decide_where_it_starts() -> None:
    (layer,) = parts_of(recurrent({"kind": "lstm", "forget_bias": 2.5}))
    assert isinstance(layer.cell, LSTM)
    assert layer.cell.bias[5:10].tolist() == [2.5] * 5
    (bare,) = parts_of(recurrent({"kind": "lstm", "bias": False}))
    assert bare.cell.bias is None


def test_the_start_of_the_weights_is_chosen_by_name() -> None:
    (plain,) = parts_of(recurrent("rnn"))
    assert plain.cell.recurrent.abs().max() <= 5**-0.5
    (turned,) = parts_of(recurrent("rnn", initialization="orthogonal"))
    torch.testing.assert_close(
        turned.cell.recurrent @ turned.cell.recurrent.T, torch.eye(5), atol=1e-6, rtol=0
    )
    (same,) = parts_of(recurrent("rnn", initialization="identity"))
    assert torch.equal(same.cell.recurrent, torch.eye(5))


def test_an_option_that_is_wrong_for_the_widths_is_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        RecurrentBackbone.from_settings(
            recurrent({"kind": "projected_lstm", "proj_size": 7}, hidden_sizes=[9, 6]), causal=False
        )
    assert (caught.value.argument, caught.value.value) == ("cell", "projected_lstm")
    assert "proj_size 7 does not fit hidden_size 6" in caught.value.what
    assert "from 1 to 5" in str(caught.value)


def test_locked_dropout_leaves_out_the_same_features_of_every_step_that_enters() -> None:
    backbone = RecurrentBackbone.from_settings(
        recurrent("rnn", dropout=0.5, locked_dropout=True, embedding_size=40), causal=True
    )
    steps = torch.ones(3, 9, 40)
    dropped = backbone._drop(steps)
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(backbone.eval()._drop(steps), steps)
