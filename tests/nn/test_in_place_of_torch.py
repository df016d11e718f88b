"""seqlab.nn in place of torch.nn: names, monkey patches, pickles, quantization, odd arguments."""

from __future__ import annotations

import io
import pickle
from typing import Any, assert_type

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence

from seqlab import nn
from seqlab.core.errors import UsageError

CELLS = ["RNNCell", "LSTMCell", "GRUCell"]
LAYERS = ["RNN", "LSTM", "GRU"]
scripts = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def test_every_public_name_of_torch_is_there_and_is_torchs_unless_it_is_ours() -> None:
    names = [name for name in dir(torch.nn) if not name.startswith("_")]
    assert len(names) > 100
    for name in names:
        if name not in nn.__all__:
            assert getattr(nn, name) is getattr(torch.nn, name)
    assert set(names) <= set(dir(nn))
    assert {"LSTM", "GRU", "MultiheadAttention", "Transformer"} <= set(nn.__all__)


def test_a_model_is_written_with_seqlabs_names_alone() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(9, 4)
            self.layer = nn.GRU(4, 6, batch_first=True)
            self.head = nn.Sequential(nn.Linear(6, 3), nn.ReLU())

        def forward(self, ids: Tensor) -> Tensor:
            logits: Tensor = self.head(self.layer(self.embedding(ids))[1][0])
            return nn.functional.log_softmax(logits, dim=-1)

    model = Model()
    assert_type(nn.Linear(2, 3), torch.nn.Linear)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert model(torch.randint(9, (2, 5))).shape == (2, 3)


def test_an_unknown_name_is_an_attribute_error_that_names_both_modules() -> None:
    with pytest.raises(AttributeError, match=r"seqlab\.nn.*torch\.nn.*'Lstm'"):
        nn.Lstm  # type: ignore[attr-defined]  # noqa: B018


@scripts
@pytest.mark.parametrize("name", [*CELLS, *LAYERS, "MultiheadAttention", "TransformerEncoderLayer"])
def test_torchs_names_may_be_replaced_by_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(torch.nn, name)
    monkeypatch.setattr(torch.nn, name, getattr(nn, name))
    sizes = (4, 2, 7) if "Transformer" in name else (4, 2) if "Attention" in name else (4, 6)
    layer, reference = getattr(torch.nn, name)(*sizes).eval(), original(*sizes).eval()
    reference.load_state_dict(layer.state_dict())
    steps = torch.randn(3, 4) if name in CELLS else torch.randn(5, 3, 4)
    inputs = (steps,) * 3 if "Attention" in name else (steps,)
    torch.testing.assert_close(layer(*inputs), reference(*inputs))
    assert type(torch.jit.script(layer)) is not None
    assert type(layer.to_torch()) is original


@pytest.mark.parametrize("name", [*CELLS, *LAYERS])
def test_a_pickled_model_needs_no_class_but_the_layers_own(name: str) -> None:
    layer, file = getattr(nn, name)(4, 6), io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    with torch.serialization.safe_globals([type(layer)]):
        loaded = torch.load(file, weights_only=True)
    steps = torch.randn(3, 4) if name in CELLS else torch.randn(5, 3, 4)
    torch.testing.assert_close(loaded(steps), layer(steps), rtol=0, atol=0)
    assert type(loaded) is type(layer)
    assert repr(loaded) == repr(layer)


@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(4, hidden_sizes=[3, 5], bidirectional=True, merge="learned", cell="peephole"),
        nn.GRU(4, 6, 2, cell={"kind": "gru", "keep": "new"}, fast=False),
        nn.RNN(4, 6, nonlinearity=torch.sin),
        nn.LSTM(4, 6, proj_size=3),
        nn.LSTM(4, 6, cell="layer_norm"),
    ],
    ids=str,
)
def test_any_layer_survives_a_pickle(layer: Any) -> None:
    packed = pack_sequence([torch.randn(4, 4), torch.randn(2, 4)])
    loaded = pickle.loads(pickle.dumps(layer))
    torch.testing.assert_close(loaded(packed)[0].data, layer(packed)[0].data, rtol=0, atol=0)
    assert repr(loaded) == repr(layer)
    loaded.weight_ih_l0 = torch.nn.Parameter(torch.zeros(1, 1))  # the shapes are checked as before
    with pytest.raises(RuntimeError, match="weight_ih_l0"):
        loaded(packed)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("name", ["LSTM", "GRU", *CELLS])
def test_quantization_says_that_it_leaves_our_layer_alone_and_takes_torchs(name: str) -> None:
    model = nn.Sequential(getattr(nn, name)(4, 6))
    quantize = torch.ao.quantization.quantize_dynamic
    for layers_to_quantize in (None, {getattr(nn, name)}):  # torch's default, and our class by name
        with pytest.warns(UserWarning, match=rf"{name} is not quantized.*to_torch"):
            quantize(model, layers_to_quantize)
    reference = nn.Sequential(getattr(torch.nn, name)(4, 6))
    reference.load_state_dict(model.state_dict())
    steps = torch.randn(3, 4) if name in CELLS else torch.randn(5, 3, 4)
    found, expected = quantize(nn.to_torch(model)), quantize(reference)
    assert type(found[0]) is type(expected[0])
    torch.testing.assert_close(found(steps), expected(steps), rtol=0, atol=0)


def test_a_model_of_torchs_layers_shares_the_parameters_and_leaves_the_model_as_it_is() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)).eval()
    converted = nn.to_torch(model)
    assert type(model[1]) is nn.TransformerEncoderLayer
    assert [type(part) for part in converted] == [torch.nn.Linear, torch.nn.TransformerEncoderLayer]
    assert [id(part) for part in converted.parameters()] == [id(part) for part in model.parameters()]
    steps = torch.randn(2, 3, 4)
    torch.testing.assert_close(converted(steps), model(steps))


@scripts
@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(4, 6, cell="coupled"),
        nn.LSTMCell(4, 6, cell="coupled"),
        nn.MultiheadAttention(4, 2, num_kv_heads=1),
        nn.TransformerEncoderLayer(4, 2, norm="rms"),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_a_layer_that_torch_does_not_have_says_so(layer: Any) -> None:
    for convert in (nn.to_torch, torch.jit.script):
        with pytest.raises(UsageError, match=r"torch\.jit\.script(.|\n)*torch\.jit\.trace"):
            convert(layer)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_without_units_is_torchs(name: str) -> None:
    ours, theirs = (getattr(module, name)(4, 0) for module in (nn, torch.nn))
    found, expected = ours(torch.randn(3, 4)), theirs(torch.randn(3, 4))
    torch.testing.assert_close(found, expected)


def test_an_unknown_nonlinearity_is_a_value_error_as_torchs() -> None:
    for module in (nn, torch.nn):
        with pytest.raises(ValueError, match="garbage"):
            module.RNN(4, 6, nonlinearity="garbage")
    with pytest.raises(ValueError, match="garbage"):
        nn.RNNCell(4, 6, nonlinearity="garbage")


@pytest.mark.parametrize("layer", [nn.RNN, nn.RNNCell])
@pytest.mark.parametrize(
    ("nonlinearity", "cell"),
    [("garbage", None), ("relu", "gru"), ("relu", {"kind": "rnn", "activation": "tanh"})],
)
def test_mistakes_in_a_nonlinearity_name_the_argument_that_was_passed(
    layer: Any, nonlinearity: str, cell: Any
) -> None:
    with pytest.raises(UsageError) as caught:
        layer(4, 6, nonlinearity=nonlinearity, cell=cell)
    assert "nonlinearity" in caught.value.message
    with pytest.raises(UsageError) as caught:
        layer(4, 6, cell={"kind": "rnn", "activation": "garbage"})
    assert "activation" in caught.value.message
    assert "nonlinearity" not in caught.value.message


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("name", LAYERS)
def test_nested_tensors_are_refused_with_the_form_that_works(name: str) -> None:
    sequences = [torch.randn(2, 4), torch.randn(5, 4)]
    nested = torch.nested.nested_tensor(sequences)
    ours, theirs = getattr(nn, name)(4, 6), getattr(torch.nn, name)(4, 6)
    with pytest.raises(RuntimeError):
        theirs(nested)
    with pytest.raises(RuntimeError, match="pack_sequence"):
        ours(nested)
    ours(torch.nn.utils.rnn.pack_sequence(list(nested.unbind()), enforce_sorted=False))


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "batch"])
def test_an_output_may_be_changed_in_place(kind: str, packed: bool) -> None:
    """As by a Dropout or ReLU with inplace=True behind the layer; the gradient is that of torch's layer."""
    torch.manual_seed(0)
    theirs, ours = (getattr(module, kind)(3, 5, dtype=torch.float64) for module in (torch.nn, nn))
    ours.load_state_dict(theirs.state_dict())
    steps = torch.randn(50, 40, 3, dtype=torch.float64)
    gradients = []
    for layer in (ours, theirs):
        output = layer(pack_padded_sequence(steps, torch.arange(50, 10, -1)) if packed else steps)[0]
        data = output.data if packed else output
        data.mul_(data.detach() > 0).add_(1)
        gradients.append(torch.autograd.grad(data.square().sum(), list(layer.parameters())))
    torch.testing.assert_close(gradients[0], gradients[1])
