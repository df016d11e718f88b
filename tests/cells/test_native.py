"""The kernels in C++ give what the scans in Python give; without them nothing is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from seqlab.blocks.scan import reference_scan, scan
from seqlab.cells.base import Cell, cells
from seqlab.cells.native import library as native_library
from seqlab.cells.native.build import build_library
from seqlab.cells.native.library import disable_native, native_kernels
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import EnvironmentProblem

KERNELS = {
    "lstm": {},
    "lstm without bias": {"bias": False},
    "peephole_lstm": {},
    "peephole_lstm whose output gate sees the new cell state": {"output_gate_sees": "new"},
    "peephole_lstm with one gate": {"gates": ("forget",)},
    "coupled_lstm": {},
    "layer_norm_lstm": {},
    "layer_norm_lstm without bias": {"bias": False},
    "gru": {},
    "gru without bias": {"bias": False},
    "gru that keeps the new": {"keep": "new"},
    "reset_before_gru": {},
    "reset_before_gru with the bias outside": {"candidate_bias": "outside"},
    "single_gate": {},
}
RAGGED = [4, 7, 1, 6, 7, 2, 3, 3, 5, 6, 7, 7, 1, 1, 2, 2, 4, 5]
needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler here")


def cell_of(name: str, dtype: torch.dtype) -> Cell:
    torch.manual_seed(3)
    cell = cells.get(name.partition(" ")[0])(3, 5, **KERNELS[name])
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return cell.to(dtype)


def everything(
    cell: Cell, lengths: list[int], *, reverse: bool, dtype: torch.dtype, plain: bool = False
) -> list[Tensor]:
    """Outputs, last states and all gradients of one scan."""
    random = torch.Generator().manual_seed(
        len(lengths)
    )  # drawn in double precision, so that both precisions see the same numbers
    packing = Packing.from_lengths(torch.tensor(lengths), time=max(lengths))

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype)

    steps = draw(len(lengths), max(lengths), 3).requires_grad_()
    state = tuple(draw(len(lengths), size).requires_grad_() for size in cell.state_sizes)
    way = reference_scan if plain else scan
    outputs, last = way(cell, packing.pack(steps), state, packing.layout(reverse=reverse))
    loss = sum(((part * draw(*part.shape)).sum() for part in (outputs, *last)), torch.zeros((), dtype=dtype))
    gradients = torch.autograd.grad(loss, [steps, *state, *cell.parameters()])
    return [outputs.detach(), *(part.detach() for part in last), *gradients]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("lengths", [RAGGED, [3] * 33, [6]], ids=["ragged", "full", "one sequence"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
def test_a_kernel_gives_outputs_states_and_gradients_of_the_plain_scan(
    kernels: Path, name: str, lengths: list[int], reverse: bool
) -> None:
    assert native_kernels(torch.zeros(1)) is not None
    truth = everything(
        cell_of(name, torch.float64), lengths, reverse=reverse, dtype=torch.float64, plain=True
    )
    exact = everything(cell_of(name, torch.float64), lengths, reverse=reverse, dtype=torch.float64)
    found = everything(cell_of(name, torch.float32), lengths, reverse=reverse, dtype=torch.float32)
    plain = everything(
        cell_of(name, torch.float32), lengths, reverse=reverse, dtype=torch.float32, plain=True
    )
    for wanted, double, single, other in zip(truth, exact, found, plain, strict=True):
        torch.testing.assert_close(double, wanted, rtol=1e-10, atol=1e-10)
        rounding = 1e-6 * max(
            1.0, float(wanted.abs().max())
        )  # single precision may round otherwise than the plain scan, but not worse
        allowed = 4 * (other - wanted).abs().max() + rounding
        assert (single - wanted).abs().max() <= allowed


@pytest.mark.slow
@needs_compiler
def test_kernels_are_used_when_they_are_there_and_can_be_left_alone(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, called = cell_of("coupled_lstm", torch.float32), []
    loaded = native_kernels(torch.zeros(1))
    assert loaded is not None

    class Spy:
        def __getattr__(self, name: str) -> object:
            called.append(name)
            return getattr(loaded, name)

    monkeypatch.setattr(native_library, "_loaded", Spy)
    everything(cell, RAGGED, reverse=False, dtype=torch.float32)
    assert called == ["coupled_lstm_forward", "coupled_lstm_backward"]
    called.clear()
    with disable_native():
        everything(cell, RAGGED, reverse=False, dtype=torch.float32)
    assert called == []


@pytest.mark.slow
@needs_compiler
def test_kernels_are_left_alone_where_autocast_changes_types(kernels: Path) -> None:
    cell, packing = cell_of("lstm", torch.float32), Packing.from_lengths(torch.tensor([3, 3, 2]), time=3)
    rows, state = packing.pack(torch.randn(3, 3, 3)), cell.zero_state(torch.zeros(3, 1))
    with torch.autocast("cpu", torch.bfloat16):
        assert native_kernels(rows) is None
        found = scan(cell, rows, state, packing.layout())[0]
        with disable_native():
            assert torch.equal(found, scan(cell, rows, state, packing.layout())[0])


@pytest.mark.slow
@needs_compiler
def test_values_that_are_not_finite_stay_in_their_own_sequence(kernels: Path) -> None:
    for name in KERNELS:
        cell = cell_of(name, torch.float32)
        packing = Packing.from_lengths(torch.tensor([3, 3, 2]), time=3)
        steps = torch.randn(3, 3, 3)
        steps[1, 1] = torch.tensor([float("nan"), float("inf"), 1e30])
        outputs = packing.unpack(scan(cell, packing.pack(steps), cell.zero_state(steps), packing.layout())[0])
        assert outputs[[0, 2]].isfinite().all(), name
        assert outputs[1, 0].isfinite().all(), name
        assert outputs[1, 1:].isnan().any(), name


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", KERNELS)
def test_second_derivatives_are_those_of_the_plain_scan(kernels: Path, name: str) -> None:
    cell = cell_of(name, torch.float64)
    packing = Packing.from_lengths(torch.tensor([3, 1]), time=3)
    rows = packing.pack(torch.randn(2, 3, 3, dtype=torch.float64)).requires_grad_()
    state = cell.zero_state(rows[:2])

    def second(*, fast: bool) -> Tensor:
        outputs, _ = scan(cell, rows, state, packing.layout(), fast=fast)
        (first,) = torch.autograd.grad(outputs.square().sum(), rows, create_graph=True)
        return torch.autograd.grad(first.square().sum(), rows)[0]

    torch.testing.assert_close(second(fast=True), second(fast=False), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@needs_compiler
def test_saturated_gates_are_exactly_open_or_shut_and_tiny_values_keep_their_digits(kernels: Path) -> None:
    """The activations written for vectors, against double precision, over their whole range."""
    cell = cells.get("lstm")(1, 8)
    points = torch.cat(
        [torch.linspace(-100, 100, 20001), torch.logspace(-30, 2, 2000), -torch.logspace(-30, 2, 2000)]
    )[:, None]
    rows = [
        0.0,
        0.0,
        1.0,
        1.0,
    ]  # the input gate is open, so the cell state is tanh(x); the output gate is σ(x)
    weights = {
        "input": torch.tensor(rows).repeat_interleave(8)[:, None],
        "recurrent": torch.zeros(32, 8),
        "bias": torch.tensor([100.0, 0.0, 0.0, 0.0]).repeat_interleave(8),
    }
    outputs, (_, cell_state) = scan(
        cell.with_weights(weights), points, cell.zero_state(points), Packing((len(points),), None, 1).layout()
    )
    exact = points.double()
    torch.testing.assert_close(cell_state[:, 7:].double(), torch.tanh(exact), rtol=5e-7, atol=0)
    shown = torch.sigmoid(exact) * torch.tanh(torch.tanh(exact))
    torch.testing.assert_close(outputs[:, 7:].double(), shown, rtol=2e-6, atol=1e-37)
    assert (cell_state[points[:, 0] > 20] == 1).all()
    assert (cell_state[points[:, 0] < -20] == -1).all()


def test_a_library_that_cannot_be_loaded_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    native_library.reload_library()
    path = native_library.library_path()
    path.parent.mkdir()
    path.write_bytes(b"not a library")
    assert native_kernels(torch.zeros(1)) is None
    native_library.reload_library()


def test_building_without_a_compiler_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(EnvironmentProblem, match=r"needs a C\+\+ compiler\.\n.*apt install g\+\+\."):
        build_library()


@pytest.mark.slow
def test_the_switch_turns_the_kernels_off() -> None:
    code = "import torch; from seqlab.cells.native.library import native_kernels; print(native_kernels(torch.zeros(1)))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"SEQLAB_NATIVE": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "None\n"
