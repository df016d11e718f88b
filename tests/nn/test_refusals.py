"""Mistakes: torch's own errors where torch has them, clear words where seqlab adds something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from seqlab import nn
from seqlab.core.errors import UsageError

BUILD: dict[str, Callable[[Any], Any]] = {
    "zero layers": lambda m: m.LSTM(3, 5, 0),
    "fewer than zero layers": lambda m: m.GRU(3, 5, -1),
    "no width": lambda m: m.LSTM(3),
    "zero width": lambda m: m.RNN(3, 0),
    "zero input": lambda m: m.RNN(0, 5),
    "a width that is no number": lambda m: m.GRU(3, 5.0),
    "an input that is no number": lambda m: m.GRU("3", 5),
    "a bias that is no bool": lambda m: m.LSTM(3, 5, bias=1),
    "an order that is no bool": lambda m: m.LSTM(3, 5, batch_first=None),
    "dropout above one": lambda m: m.LSTM(3, 5, 2, dropout=1.5),
    "dropout that is a bool": lambda m: m.LSTM(3, 5, 2, dropout=True),
    "a negative projection": lambda m: m.LSTM(3, 5, proj_size=-1),
    "a wide projection": lambda m: m.LSTM(3, 5, proj_size=5),
    "a projection of a GRU": lambda m: m.GRU(3, 5, proj_size=2),
    "a projection of an RNN": lambda m: m.RNN(3, 5, proj_size=2),
    "an unknown argument": lambda m: m.LSTM(3, 5, wheels=4),
}
WRONG: Any = 4
TYPO: Any = "men"
SAME_WORDS = set(BUILD) - {"no width", "an unknown argument"}
CALL: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "wrong features": lambda m, o: m.LSTM(3, 5, **o)(torch.zeros(7, 2, 4)),
    "wrong features, packed": lambda m, o: m.GRU(3, 5, **o)(pack_sequence([torch.zeros(7, 4)])),
    "wrong features, one sequence": lambda m, o: m.GRU(3, 5, **o)(torch.zeros(7, 4)),
    "four axes": lambda m, o: m.LSTM(3, 5, **o)(torch.zeros(1, 7, 2, 3)),
    "one axis": lambda m, o: m.RNN(3, 5, **o)(torch.zeros(3)),
    "no steps": lambda m, o: m.GRU(3, 5, **o)(torch.zeros(0, 2, 3)),
    "wrong type": lambda m, o: m.GRU(3, 5, **o)(torch.zeros(7, 2, 3, dtype=torch.float64)),
    "wrong type, packed": lambda m, o: m.GRU(3, 5, **o)(
        pack_sequence([torch.zeros(7, 3, dtype=torch.float64)])
    ),
    "a state of another batch": lambda m, o: m.GRU(3, 5, **o)(torch.zeros(7, 2, 3), torch.zeros(1, 3, 5)),
    "a state of another batch, packed": lambda m, o: m.GRU(3, 5, **o)(
        pack_sequence([torch.zeros(7, 3)]), torch.zeros(1, 3, 5)
    ),
    "a state of too few layers": lambda m, o: m.RNN(3, 5, 2, **o)(torch.zeros(7, 2, 3), torch.zeros(1, 2, 5)),
    "a cell state of another width": lambda m, o: m.LSTM(3, 5, **o)(
        torch.zeros(7, 2, 3), (torch.zeros(1, 2, 5), torch.zeros(1, 2, 4))
    ),
    "a flat state of a batch": lambda m, o: m.GRU(3, 5, **o)(torch.zeros(7, 2, 3), torch.zeros(2, 5)),
    "a batched state of one sequence": lambda m, o: m.LSTM(3, 5, **o)(
        torch.zeros(7, 3), (torch.zeros(1, 1, 5), torch.zeros(1, 1, 5))
    ),
}
CELL: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "wrong features": lambda m, o: m.LSTMCell(3, 5, **o)(torch.zeros(2, 4)),
    "three axes": lambda m, o: m.LSTMCell(3, 5, **o)(torch.zeros(7, 2, 3)),
    "a state of three axes": lambda m, o: m.LSTMCell(3, 5, **o)(
        torch.zeros(2, 3), (torch.zeros(1, 2, 5), torch.zeros(1, 2, 5))
    ),
    "a state of another batch": lambda m, o: m.LSTMCell(3, 5, **o)(
        torch.zeros(2, 3), (torch.zeros(3, 5), torch.zeros(3, 5))
    ),
    "a state of another width": lambda m, o: m.LSTMCell(3, 5, **o)(
        torch.zeros(2, 3), (torch.zeros(2, 4), torch.zeros(2, 5))
    ),
}


def error_of(act: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, torch decides
        act()
    return caught.value


@pytest.mark.parametrize("mistake", BUILD)
def test_what_torch_refuses_to_build_is_refused_alike(mistake: str) -> None:
    theirs, ours = error_of(lambda: BUILD[mistake](torch.nn)), error_of(lambda: BUILD[mistake](nn))
    assert type(ours) is type(theirs)
    if mistake in SAME_WORDS:
        assert str(ours) == str(theirs)


@pytest.mark.parametrize("options", [{}, {"fast": False}], ids=["torch's path", "own path"])
@pytest.mark.parametrize("mistake", CALL)
def test_what_torch_refuses_to_run_is_refused_alike(mistake: str, options: dict[str, Any]) -> None:
    theirs, ours = error_of(lambda: CALL[mistake](torch.nn, {})), error_of(lambda: CALL[mistake](nn, options))
    assert type(ours) is type(theirs)
    if "axis" not in mistake and "axes" not in mistake and "state of one" not in mistake:
        assert str(ours) == str(theirs)


@pytest.mark.parametrize("options", [{}, {"cell": "coupled"}], ids=["torch's cell", "own cell"])
@pytest.mark.parametrize("mistake", CELL)
def test_a_cell_refuses_what_torchs_cell_refuses(mistake: str, options: dict[str, Any]) -> None:
    theirs, ours = error_of(lambda: CELL[mistake](torch.nn, {})), error_of(lambda: CELL[mistake](nn, options))
    assert type(ours) is type(theirs)


def test_an_lstm_looks_at_packed_features_though_torchs_does_not() -> None:
    with pytest.raises(
        RuntimeError, match=r"input.size\(-1\) must be equal to input_size. Expected 3, got 4"
    ):
        nn.LSTM(3, 5)(pack_sequence([torch.zeros(7, 4)]))


@pytest.mark.parametrize("module", [torch.nn, nn])
def test_dropout_with_one_layer_warns(module: Any) -> None:
    with pytest.warns(
        UserWarning,
        match="non-zero dropout expects num_layers greater than 1, but got dropout=0.5 and num_layers=1",
    ):
        module.LSTM(3, 5, dropout=0.5)


@pytest.mark.parametrize(
    ("build", "facts"),
    [
        (lambda: nn.LSTM(3, 5, cell="couplet"), "LSTM: | 'couplet' | Did you mean 'coupled_lstm'?"),
        (lambda: nn.LSTM(3, 5, cell="gru"), "LSTM | a hidden state and a cell state | seqlab.nn.GRU"),
        (lambda: nn.GRU(3, 5, cell="peephole_lstm"), "seqlab.nn.LSTM | additive, gru, min_gru"),
        (lambda: nn.LSTM(3, 5, cell={"kind": "lstm", "peephole": True}), "lstm has no option 'peephole'. | forget_bias, candidate."),
        (lambda: nn.GRU(3, 5, cell={"kind": "gru", "keep": "both"}), "keep='both': GRU with the cell gru | old or new."),
        (lambda: nn.GRU(3, 5, cell={"keep": "old"}), "cell= has no 'kind', only keep."),
        (lambda: nn.GRU(3, 5, cell={"kind": "gru", "bias": False}), "cell= | bias=False"),
        (lambda: nn.LSTM(3, 5, cell=WRONG), "cell= | 'kind' | not int."),
        (lambda: nn.LSTM(3, 5, cell="peephole", proj_size=2), "the cell peephole_lstm has no option 'proj_size'."),
        (lambda: nn.LSTM(3, 5, cell="projected"), "the cell projected_lstm | proj_size=64."),
        (lambda: nn.RNN(3, 5, nonlinearity="tan"), "nonlinearity='tan': RNN with the cell rnn | tanh, relu"),
        (lambda: nn.RNN(3, 5, nonlinearity="relu", cell="single_gate"), "the cell single_gate has no option 'nonlinearity'."),
        (lambda: nn.RNN(3, 5, nonlinearity="relu", cell={"kind": "rnn", "activation": "tanh"}), "'relu' in the arguments and 'tanh' in cell=."),
        (lambda: nn.RNN(3, 5, nonlinearity=torch.nn.PReLU()), "activation.weight."),
        (lambda: nn.LSTM(3, 5, merge="mean"), "merge='mean' | bidirectional=True"),
        (lambda: nn.LSTM(3, 5, merge=TYPO, bidirectional=True), "'men' | Did you mean 'mean'?"),
        (lambda: nn.LSTM(3, 5, hidden_sizes=[5, 4]), "hidden_size is 5, but hidden_sizes ends with 4."),
        (lambda: nn.LSTM(3, num_layers=3, hidden_sizes=[5, 4]), "num_layers is 3, but hidden_sizes has 2 "),
        (lambda: nn.LSTM(3, hidden_sizes=[]), "hidden_sizes is []."),
        (lambda: nn.LSTM(3, hidden_sizes=[5, 0]), "hidden_sizes is [5, 0]. | at least 1"),
        (lambda: nn.GRU(3, hidden_sizes=[4, 5])(torch.zeros(7, 2, 3), torch.zeros(2, 2, 5)), "the 2 layers | 4, 5."),
        (lambda: nn.GRU(3, 5, fast=False)(torch.zeros(7, 2, 3), (torch.zeros(1, 2, 5),)), "the state is a tuple. | one tensor"),
        (lambda: nn.LSTM(3, 5, fast=False)(torch.zeros(7, 2, 3), torch.zeros(1, 2, 5)), "the state is one tensor. | (hidden, cell_state)"),
        (lambda: nn.LSTMCell(3, 5, cell="single_gate"), "LSTMCell: the cell single_gate has only a hidden state"),
    ],
)  # fmt: skip
def test_mistakes_in_what_seqlab_adds(build: Callable[[], Any], facts: str) -> None:
    with pytest.raises(UsageError) as caught:
        build()
    assert [fact for fact in facts.split(" | ") if fact not in str(caught.value)] == []


LAYERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "batchfirst": ("batch_first", lambda **o: nn.LSTM(3, 5, **o)),
    "hiden_sizes": ("hidden_sizes", lambda **o: nn.GRU(3, 5, **o)),
    "nonlinearty": ("nonlinearity", lambda **o: nn.RNN(3, 5, **o)),
    "cel": ("cell", lambda **o: nn.LSTMCell(3, 5, **o)),
    "droput": ("dropout", lambda **o: nn.MultiheadAttention(4, 2, **o)),
    "n_head": ("nhead", lambda **o: nn.Transformer(8, **o)),
    "normfirst": ("norm_first", lambda **o: nn.TransformerEncoderLayer(8, 2, **o)),
    "dim_feed_forward": ("dim_feedforward", lambda **o: nn.TransformerDecoderLayer(8, 2, **o)),
    "num_layer": ("num_layers", lambda **o: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), **o)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_misspelled_argument_is_answered_with_the_closest_one(name: str) -> None:
    meant, build = LAYERS[name]
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{name}'\. Did you mean '{meant}'\?"):
        build(**{name: 1})


def test_an_argument_like_no_other_lists_those_of_the_layer() -> None:
    unknown: dict[str, Any] = {"wheels": 4}
    with pytest.raises(TypeError, match=r"LSTM.*'wheels'\. Arguments: input_size, .*cell"):
        nn.LSTM(3, 5, **unknown)
