"""Run by itself: layers and kernels with random arguments, right and wrong, a number of times.

    python -m tests.cells.native_fuzz --calls 7000 --seed 1 [--sanitize]

Every call must either raise an ordinary exception or give the answer of a reference that has no kernels:
torch's own layer, or the plain scan. What was right must not be refused. Prints what went otherwise, and last
how many calls were refused and answered. With --sanitize the kernels are built so that every access beyond an
allocation ends the process (LD_PRELOAD must name the compiler's libasan.so).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn
from seqlab.cells import kernel_choice
from seqlab.cells.native import library as native_library
from seqlab.cells.native.build import build_library
from seqlab.core.errors import SeqlabError
from tests.cells.native_calls import KERNELS, call, right, takes_any_stride, wrong_sizes, wrong_tensors

LAYERS: list[tuple[str, str | None]] = [
    ("LSTM", None),
    ("GRU", None),
    ("LSTM", "peephole_lstm"),
    ("LSTM", "coupled_lstm"),
    ("LSTM", "layer_norm_lstm"),
    ("GRU", "reset_before_gru"),
    ("GRU", "single_gate"),
]
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, SeqlabError)
IN = 3


class Case:
    """One layer, its input and its state, with or without mistakes."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.kind, self.cell = draw.choice(LAYERS)
        self.dtype = draw.choice([torch.float32, torch.float64])
        self.width = draw.randint(1, 9)
        self.options = {
            "num_layers": draw.randint(1, 2),
            "bidirectional": draw.random() < 0.4,
            "bias": draw.random() < 0.8,
        }
        chosen = {} if self.cell is None else {"cell": self.cell}
        self.layer = getattr(nn, self.kind)(IN, self.width, dtype=self.dtype, **self.options, **chosen)
        self.lengths = sorted((draw.randint(1, 6) for _ in range(draw.choice([1, 2, 5, 40]))), reverse=True)
        self.steps: Any = self._steps()
        self.state: Any = self._state()
        places = [
            "weight",
            "steps",
            *(["sizes", "order"] if isinstance(self.steps, PackedSequence) else []),
            *(["state"] if self.state is not None else []),
        ]
        self.mistakes = [
            f"{place}: {getattr(self, f'_break_{place}')()}"
            for place in draw.sample(places, draw.choice([0, 1, 1, 1, 2]))
        ]

    def _values(self, *shape: int) -> Tensor:
        values = torch.randn(shape, dtype=self.dtype)
        strides = self.draw.choice(["plain", "turned", "sparse rows"])
        if strides == "turned":
            return values.transpose(0, -1).contiguous().transpose(0, -1)
        return values.repeat_interleave(2, dim=-1)[..., ::2] if strides == "sparse rows" else values

    def _steps(self) -> Any:
        if self.draw.random() < 0.4:
            return self._values(self.lengths[0], len(self.lengths), IN)
        return pack_sequence([self._values(length, IN) for length in self.lengths])

    def _state(self) -> Any:
        if self.draw.random() < 0.5:
            return None
        places = self.options["num_layers"] * (2 if self.options["bidirectional"] else 1)
        parts = [
            self._values(places, len(self.lengths), self.width)
            for _ in range(2 if self.kind == "LSTM" else 1)
        ]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _wrong(self, tensor: Tensor) -> tuple[str, Tensor]:
        """torch itself reads memory that was freed behind a tensor's back, so that one is for the kernels
        alone.
        """
        return self.draw.choice(
            [(what, other) for what, other in wrong_tensors(tensor) if other is not None and what != "freed"]
        )

    def _break_weight(self) -> str:
        name, weight = self.draw.choice(list(self.layer.named_parameters()))
        what, other = self._wrong(weight.detach())
        setattr(self.layer, name, Parameter(other, requires_grad=other.is_floating_point()))
        return f"{name} {what}"

    def _break_state(self) -> str:
        parts = list(self.state) if isinstance(self.state, tuple) else [self.state]
        number = self.draw.randrange(len(parts))
        what, parts[number] = self._wrong(parts[number])
        self.state = parts[0] if len(parts) == 1 else tuple(parts)
        return what

    def _break_steps(self) -> str:
        if not isinstance(self.steps, PackedSequence):
            what, self.steps = self._wrong(self.steps)
            return what
        what, data = self._wrong(self.steps.data)
        self.steps = PackedSequence(data, *self.steps[1:])
        return what

    def _break_sizes(self) -> str:
        what, other = self.draw.choice(
            [
                (what, sizes)
                for what, sizes in wrong_sizes(self.steps.batch_sizes.tolist())
                if sum(sizes) < 2**31
            ]
        )
        sizes = torch.tensor(other, dtype=self.draw.choice([torch.int64] * 4 + [torch.int32, torch.float32]))
        self.steps = PackedSequence(self.steps.data, sizes, *self.steps[2:])
        return f"{what}, {sizes.dtype}"

    def _break_order(self) -> str:
        number = len(self.lengths)
        order = [
            self.draw.randrange(-1, number + 1) for _ in range(self.draw.choice([number, number + 1, 1]))
        ]
        self.steps = PackedSequence(*self.steps[:2], torch.tensor(order), torch.tensor(order))
        return str(order)

    def reference(self) -> torch.nn.Module:
        """The same parameters, by torch's own layer or by the plain scan."""
        if self.cell is None:
            theirs = getattr(torch.nn, self.kind)(IN, self.width, dtype=self.dtype, **self.options)
        else:
            theirs = getattr(nn, self.kind)(
                IN, self.width, dtype=self.dtype, cell=self.cell, fast=False, **self.options
            )
        for name, weight in self.layer.named_parameters():
            setattr(theirs, name, weight)
        return theirs

    def __str__(self) -> str:
        return (
            f"{self.kind} cell={self.cell} {self.dtype} width={self.width} {self.options}"
            f" lengths={self.lengths} mistakes={self.mistakes}"
        )


def run(layer: torch.nn.Module, steps: Any, state: Any) -> list[Tensor]:
    """Output, states and the gradients of all parameters."""
    output, last = layer(steps, state)
    data = output.data if isinstance(output, PackedSequence) else output
    parts = [data, *(last if isinstance(last, tuple) else (last,))]
    torch.manual_seed(5)
    loss = torch.stack([(part * torch.randn(part.shape, dtype=part.dtype)).sum() for part in parts]).sum()
    return [
        *(part.detach() for part in parts),
        *torch.autograd.grad(loss, [weight for weight in layer.parameters() if weight.requires_grad]),
    ]


def try_layer(draw: random.Random, count: Counter[str]) -> None:
    case = Case(draw)
    try:
        found = run(case.layer, case.steps, case.state)
    except REFUSALS as error:
        count["refused"] += 1
        if not case.mistakes:
            report(f"refused though nothing is wrong: {case}: {error}")
        return
    count["answered"] += 1
    try:
        expected = run(case.reference(), case.steps, case.state)
    except REFUSALS as error:
        report(f"answered though the reference refuses: {case}: {error}")
        return
    exact = (
        expected
        if case.dtype == torch.float64
        else run(case.reference().double(), case.steps.double(), _double(case.state))
    )
    if not all(_is_as_good(*parts) for parts in zip(found, expected, exact, strict=True)):
        report(f"another answer than the reference: {case}")


def _double(state: Any) -> Any:
    return (
        tuple(map(_double, state)) if isinstance(state, tuple) else state if state is None else state.double()
    )


def _is_as_good(ours: Tensor, theirs: Tensor, exact: Tensor) -> bool:
    """Whether it is as near to double precision as the reference is, give or take; values that are not finite
    stand in the same places.
    """
    if ours.shape != theirs.shape or not torch.equal(ours.isfinite(), theirs.isfinite()):
        return False
    size = max(1.0, float(exact.nan_to_num().abs().max())) if exact.numel() else 1.0
    rounding = 1e-9 if ours.dtype == torch.float64 else 1e-5
    off, allowed = ((part - exact).nan_to_num().abs() for part in (ours, theirs))
    return bool((off <= 10 * allowed.max() + rounding * size).all()) if off.numel() else True


def try_kernel(draw: random.Random, count: Counter[str]) -> None:
    kernel = draw.choice(KERNELS)
    sizes = tuple(sorted((draw.randint(0, 40) for _ in range(draw.randint(1, 6))), reverse=True))
    arguments = right(
        kernel,
        sizes,
        draw.randint(1, 9),
        dtype=draw.choice([torch.float32, torch.float64]),
        reverse=draw.random() < 0.5,
    )
    mistakes = []
    for name in draw.sample(
        [name for name in arguments if name not in ("epsilon", "reverse")], draw.choice([0, 1, 1, 2, 3])
    ):
        value = arguments[name]
        choices = list(
            wrong_sizes(value)
            if name == "sizes"
            else wrong_tensors(value, any_stride=takes_any_stride(kernel, name))
        )
        what, arguments[name] = draw.choice(choices)
        mistakes.append(f"{name}: {what}")
    try:
        call(kernel, arguments)
    except REFUSALS as error:
        count["refused"] += 1
        if not mistakes:
            report(f"refused though nothing is wrong: {kernel} {sizes}: {error}")
        return
    count["answered"] += 1  # several mistakes may be none: one step less of sizes that end with 0


def report(line: str) -> None:
    sys.stdout.write(f"WRONG {line}\n")
    sys.stdout.flush()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--calls", type=int, default=7000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sanitize", action="store_true")
    given = options.parse_args()
    if given.sanitize:
        os.environ.pop("LD_PRELOAD", None)  # the compiler itself needs no watching
        native_library.FLAGS += ["-fsanitize=address", "-fno-omit-frame-pointer"]
        build_library()
    if native_library.native_kernels(torch.zeros(1)) is None:
        sys.exit("there are no kernels to try")
    kernel_choice.MIN_PACKED_STEPS.update(training=1, inference=1)  # torch's layer would run short sequences
    torch.manual_seed(given.seed)
    draw, count = random.Random(given.seed), Counter[str]()
    for _ in range(given.calls):
        (try_layer if draw.random() < 0.5 else try_kernel)(draw, count)
    sys.stdout.write(f"refused {count['refused']}, answered {count['answered']}\n")


if __name__ == "__main__":
    main()
