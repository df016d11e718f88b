"""Run by itself: export and compile layers, and compare with the layers themselves on inputs of other sizes.

    python -m tests.nn.export_and_compile [NAME…]

Without names, all. Prints a line for each, which ends with "ok" or with what went wrong.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqlab import nn

IN, HIDDEN = 4, 6
LAYERS: dict[str, Callable[[Any], torch.nn.Module]] = {
    "tanh": lambda module: module.RNN(IN, HIDDEN, 2, bidirectional=True),
    "relu": lambda module: module.RNN(IN, HIDDEN, 2, nonlinearity="relu"),
    "lstm": lambda module: module.LSTM(IN, HIDDEN, 2, bidirectional=True),
    "projected": lambda module: module.LSTM(IN, HIDDEN, 2, proj_size=3),
    "gru": lambda module: module.GRU(IN, HIDDEN, 2, bidirectional=True),
}
OWN: dict[str, Callable[[], torch.nn.Module]] = {
    "peephole_lstm": lambda: nn.LSTM(IN, HIDDEN, cell="peephole"),
    "min_gru": lambda: nn.GRU(IN, HIDDEN, cell="min_gru"),
}


class Padded(torch.nn.Module):
    """A padded batch with its lengths, through a packed layer and back."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, steps: Tensor, lengths: Tensor) -> Tensor:
        return pad_packed_sequence(self.layer(pack_padded_sequence(steps, lengths, enforce_sorted=False))[0])[
            0
        ]


def exported(name: str, *, strict: bool) -> None:
    ours, theirs = (LAYERS[name](module) for module in (nn, torch.nn))
    ours.load_state_dict(theirs.state_dict())
    axes = ({1: torch.export.Dim("batch", min=2, max=1000)},)
    program = torch.export.export(ours, (torch.randn(5, 3, IN),), dynamic_shapes=axes, strict=strict)
    assert "seqlab" not in str(program.graph), "a kernel was recorded"
    for batch in (2, 3, 17):
        steps = torch.randn(5, batch, IN)
        torch.testing.assert_close(program.module()(steps)[0], theirs(steps)[0])


def exported_to_onnx(name: str) -> None:
    import onnxruntime  # nothing else here needs it

    ours, theirs = (LAYERS[name](module).eval() for module in (nn, torch.nn))
    ours.load_state_dict(theirs.state_dict())
    axes = ({1: torch.export.Dim("batch", min=2, max=1000)},)
    program = torch.onnx.export(
        ours, (torch.randn(5, 3, IN),), dynamic_shapes=axes, dynamo=True, verbose=False
    )
    assert program is not None
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    for batch in (2, 3, 17):
        steps = torch.randn(5, batch, IN)
        found = session.run(None, {session.get_inputs()[0].name: steps.numpy()})[0]
        torch.testing.assert_close(torch.from_numpy(found), theirs(steps)[0].detach(), rtol=0, atol=1e-5)


def compiled(reference: torch.nn.Module, layer: torch.nn.Module) -> None:
    layer.load_state_dict(reference.state_dict())
    torch.compiler.reset()
    ours, theirs = torch.compile(Padded(layer), backend="eager"), Padded(reference)
    for time, lengths in [(5, [5, 2, 3]), (5, [1, 5, 4]), (5, [5, 5, 5]), (4, [1, 4, 2, 2, 3, 1])]:
        steps = torch.randn(time, len(lengths), IN)
        torch.testing.assert_close(ours(steps, torch.tensor(lengths)), theirs(steps, torch.tensor(lengths)))


def batched(name: str) -> None:
    ours, theirs = (LAYERS[name](module) for module in (nn, torch.nn))
    ours.load_state_dict(theirs.state_dict())
    torch.compiler.reset()
    fast = torch.compile(ours, backend="eager")
    for shape in [(5, 3), (9, 2), (3, 5)]:
        steps = torch.randn(*shape, IN)
        torch.testing.assert_close(fast(steps)[0], theirs(steps)[0])


def attempt(name: str, act: Callable[[], None]) -> None:
    try:
        act()
        outcome = "ok"
    except Exception as error:  # noqa: BLE001 - whatever it is, the test wants to see it
        outcome = f"{type(error).__name__}: {error}".replace("\n", " ")
    sys.stdout.write(f"{name}: {outcome}\n")
    sys.stdout.flush()


def main(names: Collection[str]) -> None:
    warnings.simplefilter("ignore")
    for name in [name for name in LAYERS if name in names]:
        attempt(f"export {name}", lambda name=name: exported(name, strict=False))  # type: ignore[misc]
        attempt(f"strict export {name}", lambda name=name: exported(name, strict=True))  # type: ignore[misc]
        if name != "projected":  # torch's own export is a file that onnxruntime cannot load
            attempt(f"export {name} to ONNX", lambda name=name: exported_to_onnx(name))  # type: ignore[misc]
        attempt(
            f"compile {name}, packed", lambda name=name: compiled(LAYERS[name](torch.nn), LAYERS[name](nn))
        )  # type: ignore[misc]
        attempt(f"compile {name}", lambda name=name: batched(name))  # type: ignore[misc]
    for name, build in [(name, build) for name, build in OWN.items() if name in names]:
        attempt(f"compile {name}, packed", lambda build=build: compiled(build(), build()))  # type: ignore[misc]


if __name__ == "__main__":
    main(sys.argv[1:] or [*LAYERS, *OWN])
