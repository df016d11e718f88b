"""Parameters are torch's in name, layout and start, and whatever replaces them is seen at the next call."""

from __future__ import annotations

import copy
import io
import pickle
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils import parametrizations, parametrize
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn

IN, HIDDEN = 3, 5
LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "bias": False}),
    ("LSTM", {"bidirectional": True, "num_layers": 2}),
    ("LSTM", {"proj_size": 2, "num_layers": 3}),
    ("LSTM", {"proj_size": 2, "bias": False, "bidirectional": True}),
    ("GRU", {"bidirectional": True, "num_layers": 3, "batch_first": True}),
    ("GRU", {"dtype": torch.float64}),
]
CELLS: list[tuple[str, dict[str, Any]]] = [
    ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu"}),
    ("LSTMCell", {"bias": False}),
    ("GRUCell", {}),
]


def values(result: Any) -> Tensor:
    """The output of a layer, packed or not."""
    return result[0].data if isinstance(result[0], PackedSequence) else result[0]


def packed(dtype: torch.dtype = torch.float32) -> PackedSequence:
    return pack_sequence(
        [
            torch.randn(length, IN, generator=torch.Generator().manual_seed(length)).to(dtype)
            for length in (7, 4, 2)
        ]
    )


@pytest.mark.parametrize(("name", "options"), [*LAYERS, *CELLS], ids=str)
def test_the_start_is_torchs_number_for_number(name: str, options: dict[str, Any]) -> None:
    torch.manual_seed(8)
    ours = getattr(nn, name)(IN, HIDDEN, **options)
    after_ours = torch.rand(1)
    torch.manual_seed(8)
    theirs = getattr(torch.nn, name)(IN, HIDDEN, **options)
    assert torch.equal(after_ours, torch.rand(1))  # and what is drawn next is the same
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    for name, value in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value)
        assert getattr(ours, name).dtype == value.dtype
    torch.manual_seed(8)
    ours.reset_parameters()
    assert all(torch.equal(ours.state_dict()[name], value) for name, value in theirs.state_dict().items())


@pytest.mark.filterwarnings(
    "ignore:LSTM with projections is not supported with oneDNN"
)  # torch's own layer says so
@pytest.mark.parametrize(("name", "options"), [*LAYERS, *CELLS], ids=str)
def test_state_dicts_load_both_ways(name: str, options: dict[str, Any]) -> None:
    ours, theirs = getattr(nn, name)(IN, HIDDEN, **options), getattr(torch.nn, name)(IN, HIDDEN, **options)
    assert isinstance(ours, getattr(torch.nn, name))
    theirs.load_state_dict(ours.state_dict())
    ours.load_state_dict(theirs.state_dict())
    steps = torch.randn(4, IN, dtype=options.get("dtype"))
    torch.testing.assert_close(ours(steps), theirs(steps), rtol=0, atol=1e-6)


def test_a_whole_torch_model_is_taken_over_by_its_state_dict() -> None:
    class Tagger(torch.nn.Module):
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(11, IN)
            self.encoder = layers.LSTM(IN, HIDDEN, 2, batch_first=True, bidirectional=True, dropout=0.3)
            self.head = torch.nn.Linear(2 * HIDDEN, 4)

        def forward(self, tokens: Tensor) -> Tensor:
            return self.head(self.encoder(self.embed(tokens))[0])

    theirs, ours = Tagger(torch.nn).eval(), Tagger(nn).eval()
    ours.load_state_dict(theirs.state_dict())
    tokens = torch.randint(11, (3, 7))
    torch.testing.assert_close(ours(tokens), theirs(tokens))


def test_a_layer_stands_in_a_sequence_of_modules_and_learns() -> None:
    class Last(torch.nn.Module):
        def forward(self, pair: tuple[Tensor, Any]) -> Tensor:
            return pair[0][:, -1]

    torch.manual_seed(0)
    recurrent = nn.LSTM(1, 8, batch_first=True, cell="coupled")
    model = torch.nn.Sequential(OrderedDict(recurrent=recurrent, last=Last(), head=torch.nn.Linear(8, 1)))
    bits = torch.randint(2, (64, 6, 1)).float()
    targets = bits[:, 1]  # remember the second bit
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(120):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(bits), targets)
        loss.backward()
        optimizer.step()
    assert ((model(bits) > 0) == (targets > 0)).float().mean() == 1


@pytest.mark.parametrize("cell", [None, "peephole", "layer_norm"])
def test_copies_and_pickles_are_independent_and_equal(cell: str | None) -> None:
    layer = nn.LSTM(IN, HIDDEN, 2, cell=cell, bidirectional=True, merge="learned")
    expected = layer(packed())[0].data
    copies = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))]
    assert [torch.equal(other(packed())[0].data, expected) for other in copies] == [True, True]
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    assert [torch.equal(other(packed())[0].data, expected) for other in copies] == [True, True]


def test_a_saved_state_dict_comes_back() -> None:
    layer, other = nn.GRU(IN, HIDDEN, cell="reset_before"), nn.GRU(IN, HIDDEN, cell="reset_before")
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(layer(packed())[0].data, other(packed())[0].data)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("form", ["packed", "batch"])
def test_assigned_parameters_are_the_ones_in_use(name: str, form: str) -> None:
    layer = getattr(nn, name)(IN, HIDDEN)
    other = getattr(nn, name)(IN, HIDDEN)
    given: Any = packed() if form == "packed" else torch.randn(4, 2, IN)
    layer(given)
    layer.load_state_dict(other.state_dict(), assign=True)
    assert torch.equal(values(layer(given)), values(other(given)))
    layer.weight_hh_l0 = torch.nn.Parameter(torch.zeros_like(layer.weight_hh_l0))
    assert not torch.equal(values(layer(given)), values(other(given)))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-6), (torch.bfloat16, 0.05), (torch.float16, 0.01)]
)
@pytest.mark.parametrize("cell", ["lstm", "peephole", "layer_norm"])
def test_other_types_of_numbers(cell: str, dtype: torch.dtype, tolerance: float) -> None:
    layer: Any = nn.LSTM(IN, HIDDEN, cell=cell)
    expected = layer(packed())[0].data
    found = layer.to(dtype)(packed(dtype))[0].data
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=tolerance)
    found.sum().backward()
    assert {parameter.grad.dtype for parameter in layer.parameters()} == {dtype}


def test_a_layer_can_be_built_without_memory_and_filled_later() -> None:
    source = nn.LSTM(IN, HIDDEN, cell="peephole")
    layer = nn.LSTM(IN, HIDDEN, cell="peephole", device="meta")
    assert {parameter.device.type for parameter in layer.parameters()} == {"meta"}
    layer.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(layer(packed())[0].data, source(packed())[0].data)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_functional_call_uses_its_own_tensors_and_gradients_reach_them(name: str) -> None:
    layer, other = getattr(nn, name)(IN, HIDDEN), getattr(nn, name)(IN, HIDDEN)
    weights = {name: value.detach().clone().requires_grad_() for name, value in other.named_parameters()}
    output = torch.func.functional_call(layer, weights, (packed(),))[0].data
    assert torch.equal(output, other(packed())[0].data)
    output.sum().backward()
    assert all(value.grad is not None for value in weights.values())
    assert all(parameter.grad is None for parameter in layer.parameters())


@pytest.mark.parametrize("form", ["packed", "batch"])
def test_a_parametrization_is_computed_at_every_call(form: str) -> None:
    layer: Any = nn.RNN(IN, HIDDEN)
    parametrizations.orthogonal(layer, "weight_hh_l0")
    given: Any = packed() if form == "packed" else torch.randn(4, 2, IN)
    matrix = layer.weight_hh_l0
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(HIDDEN), rtol=0, atol=1e-5)
    values(layer(given)).sum().backward()
    assert layer.parametrizations.weight_hh_l0.original.grad.abs().sum() > 0
    parametrize.remove_parametrizations(layer, "weight_hh_l0")
    plain = torch.nn.RNN(IN, HIDDEN)
    plain.load_state_dict(layer.state_dict())
    torch.testing.assert_close(values(layer(given)), values(plain(given)))


def test_half_the_numbers_under_autocast() -> None:
    for name in ("RNN", "LSTM", "GRU"):
        layer = getattr(nn, name)(IN, HIDDEN, 2, bidirectional=True)
        exact = layer(packed())[0].data
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rough = layer(packed())[0].data
        torch.testing.assert_close(rough.float(), exact, rtol=0, atol=0.05)


def test_extra_parameters_have_names_in_torchs_style() -> None:
    assert list(nn.LSTM(IN, HIDDEN, cell="peephole").state_dict()) == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
        "weight_ch_l0",
    ]
    assert list(nn.LSTM(IN, HIDDEN, cell="layer_norm", bias=False).state_dict()) == [
        "weight_ih_l0", "weight_hh_l0", "gain_ih_l0", "gain_hh_l0", "gain_c_l0",
    ]  # fmt: skip
    assert list(nn.GRU(IN, HIDDEN, cell="min").state_dict()) == ["weight_ih_l0", "bias_ih_l0"]
    assert list(nn.RNN(IN, HIDDEN, cell="orthogonal").state_dict()) == [
        "weight_ih_l0",
        "bias_ih_l0",
        "rotation_l0",
        "shift_l0",
    ]


def test_all_weights_lists_them_by_layer_and_direction() -> None:
    layer = nn.LSTM(IN, HIDDEN, 2, bidirectional=True, cell="peephole")
    assert [len(group) for group in layer.all_weights] == [5] * 4
    layer.flatten_parameters()
    assert layer.all_weights[3][4] is layer.weight_ch_l1_reverse
