"""What torch traces, scripts, exports or compiles fits inputs of any length, and torch.func looks through
every layer.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence

from seqlab import nn
from seqlab.cells.base import cells
from seqlab.core.errors import UsageError
from tests.run_alone import run_alone

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "tanh": ("RNN", {}),
    "relu": ("RNN", {"nonlinearity": "relu"}),
    "lstm": ("LSTM", {}),
    "projected": ("LSTM", {"proj_size": 3}),
    "gru": ("GRU", {}),
}
OPERATORS = {"tanh": "rnn_tanh", "relu": "rnn_relu", "lstm": "lstm", "projected": "lstm", "gru": "gru"}
OWN = [name for name in cells.names() if name not in ("rnn", "lstm", "gru", "projected_lstm")]
IN, HIDDEN = 4, 6

pytestmark = [
    pytest.mark.usefixtures("either_way"),
    pytest.mark.filterwarnings(
        "ignore:LSTM with projections is not supported with oneDNN"
    ),  # torch's own layer says so
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


class Padded(torch.nn.Module):
    """A padded batch with its lengths, through a packed layer and back."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, steps: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        output, last = self.layer(pack_padded_sequence(steps, lengths, enforce_sorted=False))
        return pad_packed_sequence(output)[0], last[0] if isinstance(last, tuple) else last


def pair(kind: str, **options: Any) -> tuple[Any, Any]:
    """(ours, torch's) with the same parameters."""
    name, more = KINDS[kind]
    theirs = getattr(torch.nn, name)(IN, HIDDEN, 2, bidirectional=True, dtype=torch.float64, **more)
    ours = getattr(nn, name)(IN, HIDDEN, 2, bidirectional=True, dtype=torch.float64, **more, **options)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def own(name: str, **options: Any) -> Any:
    kind = nn.LSTM if cells.get(name).num_state_tensors == 2 else nn.GRU
    return kind(IN, HIDDEN, cell=name, dtype=torch.float64, **options)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def flat(result: Any) -> list[Tensor]:
    output, last = result
    return [
        output.data if isinstance(output, PackedSequence) else output,
        *(last if isinstance(last, tuple) else (last,)),
    ]


def assert_equal(found: Any, expected: Any) -> None:
    torch.testing.assert_close(flat(found), flat(expected), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_of_packed_sequences_takes_other_lengths(kind: str, fast: bool) -> None:
    ours, theirs = (Padded(layer) for layer in pair(kind, fast=fast))
    traced = torch.jit.trace(ours, (draw(5, 3, IN), torch.tensor([5, 2, 3])))
    for steps, lengths in [
        (draw(5, 3, IN), [1, 5, 4]),
        (draw(7, 3, IN), [7, 1, 1]),
        (draw(4, 6, IN), [1, 4, 2, 2, 3, 1]),
    ]:
        expected = theirs(steps, torch.tensor(lengths))
        torch.testing.assert_close(ours(steps, torch.tensor(lengths)), expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(traced(steps, torch.tensor(lengths)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_of_a_batch_takes_other_batches(kind: str, fast: bool) -> None:
    """A GRU that is not recorded takes a kernel from 24 steps on."""
    ours, theirs = pair(kind, fast=fast)
    traced = torch.jit.trace(ours, draw(30, 3, IN))
    for shape in [(30, 3), (30, 40), (9, 2), (40, 5), (1, 1)]:
        steps = draw(*shape, IN)
        assert_equal(traced(steps), theirs(steps))


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_graph_is_torchs_one_operator(kind: str) -> None:
    """Which exporters know: ONNX has an operator for it, and for nothing of ours."""
    graph = str(torch.jit.trace(pair(kind)[0], draw(5, 3, IN)).inlined_graph)
    assert graph.count(f"aten::{OPERATORS[kind]}(") == 1
    assert "seqlab::" not in graph
    assert "PythonOp" not in graph


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "projected"])  # torch exports none either
def test_an_onnx_file_gives_the_same_with_other_batches(kind: str, tmp_path: Any) -> None:
    import onnxruntime  # nothing else here needs it

    ours, theirs, path = *(layer.float() for layer in pair(kind)), tmp_path / "layer.onnx"
    axes = {"steps": {0: "time", 1: "batch"}, "output": {0: "time", 1: "batch"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on batch sizes, and that this exporter is the old one
        torch.onnx.export(
            ours,
            (torch.randn(30, 3, IN),),  # a GRU that is not recorded would take a kernel
            str(path),
            dynamo=False,
            input_names=["steps"],
            output_names=["output"],
            dynamic_axes=axes,
        )
    session = onnxruntime.InferenceSession(str(path))
    for shape in [(30, 3), (9, 2), (40, 5)]:
        steps = torch.randn(*shape, IN)
        found = torch.from_numpy(session.run(None, {"steps": steps.numpy()})[0])
        torch.testing.assert_close(found, theirs(steps)[0].detach(), rtol=0, atol=1e-5)


class First(torch.nn.Module):
    """The output alone: the script of a layer by itself has no forward, not even torch's own, because a layer
    takes two kinds of input.
    """

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, steps: Tensor) -> Tensor:
        output: Tensor = self.layer(steps)[0]
        return output


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_script_is_that_of_torchs_layer(kind: str) -> None:
    ours, theirs = pair(kind)
    scripted = torch.jit.script(First(ours).eval())
    assert not scripted.layer.training
    assert {name for name, _ in scripted.layer.named_parameters()} == {
        name for name, _ in ours.named_parameters()
    }
    for shape in [(5, 3), (9, 2)]:
        steps = draw(*shape, IN)
        torch.testing.assert_close(scripted(steps), theirs(steps)[0], rtol=0, atol=1e-12)
    ours.weight_ih_l0.data.zero_()  # not a copy
    assert scripted.layer.weight_ih_l0.abs().sum() == 0


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
def test_a_script_of_a_cell_is_that_of_torchs_cell(name: str) -> None:
    ours = getattr(nn, name)(IN, HIDDEN)
    steps = torch.randn(3, IN)
    torch.testing.assert_close(torch.jit.script(ours)(steps), ours(steps))


def test_a_script_of_another_cell_says_what_to_do() -> None:
    for layer in (
        nn.LSTM(IN, HIDDEN, cell="coupled"),
        nn.LSTMCell(IN, HIDDEN, cell="coupled"),
        nn.GRU(IN, hidden_sizes=[3, 4]),
    ):
        with pytest.raises(UsageError, match=r"torch\.jit\.script(.|\n)*torch\.jit\.trace"):
            torch.jit.script(layer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "count", "either_way"),
    [
        pytest.param(["gru"], 5, "with kernels", id="one"),
        pytest.param(["lstm"], 5, "with kernels", id="lstm", marks=pytest.mark.long),
        pytest.param(["projected"], 4, "without kernels", id="projected", marks=pytest.mark.long),
        *(
            pytest.param([], 5 * len(KINDS) + 1, way, id=f"all {way}", marks=pytest.mark.long)
            for way in ("with kernels", "without kernels")
        ),
    ],
    indirect=["either_way"],
)
def test_exported_and_compiled_layers_take_other_batches_and_lengths(
    names: list[str], count: int, either_way: str
) -> None:
    """In a process of its own: torch's compiler does not understand the checks of shapes that the tests
    switch on.
    """
    lines = run_alone(
        "tests.nn.export_and_compile", *names, SEQLAB_NATIVE="1" if either_way == "with kernels" else "0"
    )
    assert len(lines) == count
    for line in lines:
        assert line.endswith(" ok"), line


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_a_trace_of_another_cell_takes_other_batches_and_refuses_other_times(name: str) -> None:
    layer = own(name, num_layers=2, bidirectional=True)
    traced = torch.jit.trace(layer, draw(5, 3, IN))
    assert "seqlab::" not in str(traced.inlined_graph)
    assert "PythonOp" not in str(traced.inlined_graph)
    for batch in (3, 1, 40):
        steps = draw(5, batch, IN)
        assert_equal(traced(steps), layer(steps))
    for time, batch in [(3, 5), (9, 3), (1, 15), (15, 1)]:
        with pytest.raises(RuntimeError):
            traced(draw(time, batch, IN))


@pytest.mark.parametrize("layer", [*OWN, "merge", "widths"])
def test_a_trace_that_would_fix_the_lengths_is_refused(layer: str) -> None:
    packed = {
        "merge": lambda: nn.GRU(IN, HIDDEN, bidirectional=True, merge="sum"),
        "widths": lambda: nn.GRU(IN, hidden_sizes=[3, 4]),
    }
    walked = Padded(packed[layer]() if layer in packed else own(layer)).double()
    with pytest.raises(UsageError, match=r"torch\.jit\.trace(.|\n)*PackedSequence"):
        torch.jit.trace(walked, (draw(5, 3, IN), torch.tensor([5, 2, 3])))


@pytest.mark.parametrize("layer", [*KINDS, *OWN])
def test_a_layer_is_mapped_over_inputs_and_over_models(layer: str) -> None:
    ours = pair(layer)[0] if layer in KINDS else own(layer)
    steps = draw(7, 5, 3, IN)
    torch.testing.assert_close(
        torch.vmap(lambda one: ours(one)[0])(steps), torch.stack([ours(one)[0] for one in steps])
    )
    if layer == "orthogonal_rnn":
        return  # torch computes a matrix exponential for one model at a time
    models = [
        {name: value.detach() + number for name, value in ours.named_parameters()} for number in (0.0, 0.1)
    ]
    stacked = {name: torch.stack([model[name] for model in models]) for name in models[0]}
    packed = pack_sequence([draw(4, IN), draw(2, IN)])

    def call(weights: dict[str, Tensor]) -> Tensor:
        return torch.func.functional_call(ours, weights, (packed,))[0].data

    torch.testing.assert_close(torch.vmap(call)(stacked), torch.stack([call(model) for model in models]))


@pytest.mark.parametrize("layer", [*KINDS, *OWN])
def test_gradients_of_torch_func_are_autograds(layer: str) -> None:
    ours = pair(layer)[0] if layer in KINDS else own(layer)
    packed, weights = pack_sequence([draw(4, IN), draw(2, IN)]), dict(ours.named_parameters())

    def loss(weights: dict[str, Tensor]) -> Tensor:
        return torch.func.functional_call(ours, weights, (packed,))[0].data.square().sum()

    found = torch.func.grad(loss)({name: weight.detach() for name, weight in weights.items()})
    expected = torch.autograd.grad(loss(weights), list(weights.values()))
    torch.testing.assert_close(list(found.values()), list(expected))
    direction = {name: torch.ones_like(weight) for name, weight in weights.items()}
    _, along = torch.func.jvp(
        loss, ({name: weight.detach() for name, weight in weights.items()},), (direction,)
    )
    torch.testing.assert_close(along, torch.stack([gradient.sum() for gradient in expected]).sum())


@pytest.mark.parametrize("is_packed", [False, True], ids=["padded", "packed"])
@pytest.mark.parametrize("layer", [*KINDS, *OWN])
def test_forward_mode_is_autograd_along_a_direction(layer: str, is_packed: bool) -> None:
    """A padded batch this small is torch's own layer where the cell is torch's, packed sequences are a scan.

    torch cannot pack in forward mode, so the rows are packed already.
    """
    ours = pair(layer)[0] if layer in KINDS else own(layer)
    shape = (11, IN) if is_packed else (5, 3, IN)
    steps, direction = draw(*shape).requires_grad_(), draw(*shape)

    def loss(steps: Tensor) -> Tensor:
        given = PackedSequence(steps, torch.tensor([3, 3, 2, 2, 1])) if is_packed else steps
        return torch.stack([part.square().sum() for part in flat(ours(given))]).sum()

    gradient = torch.autograd.grad(loss(steps), steps)[0]
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(steps.detach(), direction)
        along = torch.autograd.forward_ad.unpack_dual(loss(dual)).tangent
    torch.testing.assert_close(along, (gradient * direction).sum().detach())
