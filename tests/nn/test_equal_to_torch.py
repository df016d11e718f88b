"""With torch's cells the layers are torch's layers: same outputs, states and gradients from the same
parameters.
"""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn
from seqlab.cells.native.library import disable_native

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "tanh": ("RNN", {}),
    "relu": ("RNN", {"nonlinearity": "relu"}),
    "lstm": ("LSTM", {}),
    "projected": ("LSTM", {"proj_size": 3}),
    "gru": ("GRU", {}),
}
FORMS = ["batch", "single", "sorted", "unsorted"]
IN, HIDDEN = 3, 5


def pair(kind: str, **options: Any) -> tuple[Any, Any]:
    """(ours, torch's) with the same parameters."""
    name, more = KINDS[kind]
    fast = options.pop("fast", True)
    torch.manual_seed(4)
    theirs = getattr(torch.nn, name)(IN, HIDDEN, dtype=torch.float64, **more, **options)
    ours = getattr(nn, name)(IN, HIDDEN, dtype=torch.float64, fast=fast, **more, **options)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def inputs_of(form: str, lengths: list[int], *, batch_first: bool) -> tuple[list[Tensor], Any]:
    """The leaves whose gradients are compared, and a function from them to an input."""
    if form == "single":
        return [draw(lengths[0], IN)], lambda leaves: leaves[0]
    if form == "batch":
        steps, batch = lengths[0], len(lengths)
        return [draw(batch, steps, IN) if batch_first else draw(steps, batch, IN)], lambda leaves: leaves[0]
    ordered = sorted(lengths, reverse=True) if form == "sorted" else lengths
    leaves = [draw(length, IN, seed=row) for row, length in enumerate(ordered)]
    return leaves, lambda leaves: pack_sequence(leaves, enforce_sorted=form == "sorted")


def state_of(layer: torch.nn.RNNBase, form: str, batch: int) -> list[Tensor]:
    places = layer.num_layers * (2 if layer.bidirectional else 1)
    sizes = [layer.proj_size or HIDDEN, HIDDEN] if isinstance(layer, torch.nn.LSTM) else [HIDDEN]
    return [
        draw(places, size, seed=9) if form == "single" else draw(places, batch, size, seed=9)
        for size in sizes
    ]


def run(
    layer: torch.nn.RNNBase, leaves: list[Tensor], build: Any, state: list[Tensor] | None
) -> list[Tensor]:
    """Outputs, last states and all gradients of one call."""
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    given = None if state is None else [part.clone().requires_grad_() for part in state]
    hx: Any = given if given is None or len(given) > 1 else given[0]
    output, last = layer(build(leaves), tuple(hx) if isinstance(hx, list) else hx)
    outputs = [output.data, *output[1:]] if isinstance(output, PackedSequence) else [output]
    parts = list(last) if isinstance(last, tuple) else [last]
    loss = sum(
        (part * draw(*part.shape, seed=number)).sum() for number, part in enumerate([outputs[0], *parts])
    )
    wanted = [*leaves, *(given or []), *layer.parameters()]
    return [*(part for part in outputs if part is not None), *parts, *torch.autograd.grad(loss, wanted)]


@settings(max_examples=60)
@given(data=st.data())
def test_outputs_states_and_gradients_are_torchs(data: st.DataObject) -> None:
    flag, form = st.booleans(), data.draw(st.sampled_from(FORMS))
    options = {name: data.draw(flag, label=name) for name in ("bidirectional", "batch_first", "bias", "fast")}
    ours, theirs = pair(
        data.draw(st.sampled_from(sorted(KINDS))), num_layers=data.draw(st.integers(1, 3)), **options
    )
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    leaves, build = inputs_of(form, lengths, batch_first=options["batch_first"])
    state = state_of(theirs, form, len(lengths)) if data.draw(flag, label="state") else None
    torch.testing.assert_close(
        run(ours, leaves, build, state), run(theirs, leaves, build, state), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize(
    ("kind", "steps", "sequences", "gradients", "kernel"),
    [
        ("gru", 50, 4, True, True),
        ("gru", 50, 4, False, True),
        ("gru", 1, 40, True, False),  # one step does not repay what a kernel prepares
        ("gru", 1, 40, False, False),
        ("lstm", 50, 64, True, True),
        ("lstm", 50, 40, True, False),  # too few rows
        ("lstm", 50, 64, False, False),  # torch's LSTM is faster without gradients
        ("lstm", 50, 4, True, False),  # and with few sequences
        ("lstm", 1, 40, True, False),
        ("tanh", 50, 40, True, False),  # there is no kernel
    ],
)
@pytest.mark.parametrize("batch_first", [False, True])
def test_a_batch_takes_the_kernel_where_it_was_measured_to_be_faster(
    kind: str,
    steps: int,
    sequences: int,
    gradients: bool,
    kernel: bool,
    batch_first: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pair(kind, num_layers=2, bidirectional=True, batch_first=batch_first)
    batch = draw(sequences, steps, IN) if batch_first else draw(steps, sequences, IN)
    expected = theirs(batch)[0]
    monkeypatch.setattr("seqlab.nn.recurrent.native_kernels", lambda _: object())
    if kernel:
        monkeypatch.setattr(getattr(torch.nn, KINDS[kind][0]), "forward", None)  # torch's is not asked
    else:
        monkeypatch.setattr("seqlab.nn.recurrent.checked_scan", None)
    with torch.set_grad_enabled(gradients):
        torch.testing.assert_close(ours(batch)[0], expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["tanh", "lstm", "gru"])
def test_packed_sequences_go_to_torch_only_without_gradients_and_without_a_kernel(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pair(kind)
    packed = pack_sequence([draw(7, IN), draw(4, IN, seed=1)])
    expected = theirs(packed)[0].data
    with torch.no_grad(), disable_native(), monkeypatch.context() as patch:
        patch.setattr("seqlab.nn.recurrent.checked_scan", None)
        torch.testing.assert_close(ours(packed)[0].data, expected)
    monkeypatch.setattr(getattr(torch.nn, KINDS[kind][0]), "forward", None)
    torch.testing.assert_close(ours(packed)[0].data, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("training", [True, False])
def test_dropout_draws_what_torch_draws(form: str, training: bool) -> None:
    ours, theirs = pair("lstm", num_layers=3, dropout=0.4, bidirectional=True)
    leaves, build = inputs_of(form, [3, 7, 1, 5], batch_first=False)
    found = []
    for layer in (ours, theirs):
        torch.manual_seed(11)
        found.append(run(layer.train(training), leaves, build, None))
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-11)


@pytest.mark.spec(74)
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_the_printed_shapes_of_the_lecture(kind: str, batch_first: bool) -> None:
    layer, theirs = getattr(nn, kind)(10, 20, 2, batch_first=batch_first), getattr(torch.nn, kind)(10, 20, 2)
    layer.load_state_dict(theirs.state_dict())
    steps = torch.randn(5, 3, 10)
    output, last = layer(steps.transpose(0, 1) if batch_first else steps)
    parts = last if kind == "LSTM" else (last,)
    assert [tuple(part.shape) for part in parts] == [(2, 3, 20)] * len(parts)
    output = output.transpose(0, 1) if batch_first else output
    assert tuple(output.shape) == (5, 3, 20)
    torch.testing.assert_close(output, theirs(steps)[0])


@pytest.mark.spec(54)
@pytest.mark.parametrize("name", ["RNN", "LSTM"])
def test_only_the_sum_of_the_two_biases_matters(name: str) -> None:
    layer = getattr(nn, name)(IN, HIDDEN, dtype=torch.float64)
    packed = pack_sequence([draw(7, IN), draw(4, IN, seed=1)])
    before = layer(packed)[0].data
    with torch.no_grad():
        layer.bias_hh_l0 += 1.5
        layer.bias_ih_l0 -= 1.5
    torch.testing.assert_close(layer(packed)[0].data, before, rtol=0, atol=1e-12)


@pytest.mark.spec(54)
def test_the_second_bias_of_the_grus_candidate_stands_behind_the_reset_gate() -> None:
    layer, theirs = pair("gru")
    packed = pack_sequence([draw(7, IN), draw(4, IN, seed=1)])
    before = layer(packed)[0].data
    for each in (layer, theirs):
        with torch.no_grad():
            each.bias_hh_l0[2 * HIDDEN :] += 1.5
            each.bias_ih_l0[2 * HIDDEN :] -= 1.5
    assert not torch.allclose(layer(packed)[0].data, before, atol=1e-3)
    torch.testing.assert_close(layer(packed)[0].data, theirs(packed)[0].data, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["tanh", "lstm", "gru"])
def test_a_packed_batch_of_equal_lengths_is_the_batch(kind: str) -> None:
    ours, _ = pair(kind, num_layers=2, bidirectional=True)
    steps = draw(6, 4, IN)
    packed, _ = ours(pack_sequence(list(steps.unbind(1))))
    torch.testing.assert_close(packed.data.view(6, 4, -1), ours(steps)[0], rtol=0, atol=1e-12)
