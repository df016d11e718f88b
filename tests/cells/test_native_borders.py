"""No kernel touches memory before it has looked at every argument: mistakes are errors in Python, never a
crash or a foreign number.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from seqlab import nn
from tests.cells.native_calls import KERNELS, call, every_mistake, right
from tests.run_alone import run_alone

CELLS = sorted({kernel.rpartition("_")[0] for kernel in KERNELS} - {"peephole_lstm_new"})
FUZZ_CALLS = 20_000
LIBRARIES = ["libasan.so", "libstdc++.so"]
"""The sanitizer comes first in a process that knows nothing of it; it finds what throws exceptions only if
that is there, too.
"""


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
def test_every_kernel_refuses_every_single_mistake() -> None:
    *accepted, tried = run_alone("tests.cells.native_mistakes")
    assert accepted == []
    assert int(tried.removeprefix("tried ")) > 3000


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
def test_every_kernel_is_tried_with_every_argument() -> None:
    call(KERNELS[0], right(KERNELS[0], (2, 1), 3))  # loads the library
    assert {name for name in torch._C._dispatch_get_all_op_names() if name.startswith("seqlab::")} == {
        f"seqlab::{name}" for name in KERNELS
    }
    for kernel in KERNELS:
        schema = [argument.name for argument in getattr(torch.ops.seqlab, kernel).default._schema.arguments]
        assert list(right(kernel, (2, 1), 3)) == schema
        touched = {what.partition(":")[0] for what, _ in every_mistake(kernel)}
        assert touched == set(schema) - {"epsilon", "reverse"}


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("recurrent", torch.zeros(3, 1), ["recurrent", "[15, 5]", "[3, 1]"]),
        ("bias", torch.zeros(15, dtype=torch.float64), ["bias", "Float", "Double"]),
        ("outputs", torch.zeros(5, 7).t(), ["outputs", "contiguous", "[1, 7]"]),
        ("cell_state", torch.zeros(3, 5), ["cell_state", "not an argument"]),
        ("kept", None, ["kept", "missing"]),
        ("sizes", [2, 5], ["sizes", "[2, 5]"]),
    ],
)  # fmt: skip
def test_the_error_names_the_argument_what_it_is_and_what_it_must_be(
    name: str, value: object, words: list[str]
) -> None:
    with pytest.raises(RuntimeError) as caught:
        call("gru_forward", {**right("gru_forward", (3, 3, 1), 5), name: value})
    assert all(word in str(caught.value).splitlines()[0] for word in words)


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    "kernel", [name for name in KERNELS if name.endswith("_forward") and name != "reset_before_gru_forward"]
)
def test_a_recurrent_matrix_of_any_stride_is_read_as_it_is(kernel: str) -> None:
    torch.manual_seed(2)
    plain = right(kernel, (3, 3, 1), 5)
    for strided in (
        plain["recurrent"].t().contiguous().t(),
        plain["recurrent"].repeat_interleave(2, dim=1)[:, ::2],
    ):
        first, second = (
            {name: part.clone() if isinstance(part, torch.Tensor) else part for name, part in plain.items()}
            for _ in range(2)
        )
        call(kernel, first)
        call(kernel, {**second, "recurrent": strided})
        assert torch.equal(first["outputs"], second["outputs"])


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_takes_tensors_without_values_and_refuses_a_mixture(kernel: str) -> None:
    arguments = right(kernel, (3, 3, 1), 5)
    torch.library.opcheck(getattr(torch.ops.seqlab, kernel).default, tuple(arguments.values()))
    tensors = [name for name, value in arguments.items() if isinstance(value, torch.Tensor)]
    call(kernel, {**arguments, **{name: arguments[name].to("meta") for name in tensors}})
    with pytest.raises(RuntimeError, match="devices"):
        call(kernel, {**arguments, tensors[0]: arguments[tensors[0]].to("meta")})


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_alone_refuses_what_needs_gradients_and_takes_it_without(kernel: str) -> None:
    """Its gradients would be those of the values before the call, without a word."""
    arguments = right(kernel, (3, 3, 1), 5)
    arguments["recurrent"].requires_grad_()
    with pytest.raises(RuntimeError, match="recurrent requires a gradient"):
        call(kernel, arguments)
    with torch.no_grad():
        call(kernel, arguments)


@pytest.mark.slow
@pytest.mark.usefixtures("kernels", "short_scans")
@pytest.mark.parametrize("cell", CELLS)
def test_a_sign_that_is_a_flag_changes_no_number(cell: str) -> None:
    """`x.conj().imag` is such a tensor. It arrives as a state, as a weight and as a gradient."""
    torch.manual_seed(1)
    layer = (nn.LSTM if "lstm" in cell else nn.GRU)(3, 5, cell=cell)
    steps = pack_sequence([torch.randn(4, 3), torch.randn(2, 3)])
    states = [torch.randn(1, 2, 5) for _ in range(2 if "lstm" in cell else 1)]
    flipped = {name: flag_sign(weight.detach()) for name, weight in layer.named_parameters()}
    kept = {name: weight.detach() for name, weight in layer.named_parameters()}
    results = []
    for weights, change in ((kept, torch.clone), (flipped, flag_sign)):
        given = {name: weight.requires_grad_() for name, weight in weights.items()}
        hidden = [change(state) for state in states]
        hx = tuple(hidden) if len(hidden) == 2 else hidden[0]
        output = torch.func.functional_call(layer, given, (steps, hx))[0].data
        slope = change(torch.ones_like(output))
        results.append([output, *torch.autograd.grad(output, list(given.values()), slope)])
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=0)


def flag_sign(tensor: torch.Tensor) -> torch.Tensor:
    """The same values in memory of the other sign."""
    flagged = torch._neg_view(-tensor)  # no public name makes a contiguous one
    assert flagged.is_neg()
    return flagged


@pytest.mark.long
@pytest.mark.timeout(
    3600
)  # the number of calls is the limit; how long they take depends on what else the machine does
@pytest.mark.usefixtures("kernels")
def test_random_arguments_never_end_the_process() -> None:
    *wrong, summary = run_alone("tests.cells.native_fuzz", f"--calls={FUZZ_CALLS}", "--seed=1")
    assert wrong == []
    refused, answered = (int(part.split()[1]) for part in summary.split(", "))
    assert min(refused, answered) > FUZZ_CALLS // 10


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_random_arguments_never_reach_beyond_an_allocation(tmp_path: Path) -> None:
    """The same with the compiler's address sanitizer in the kernels, which sees every access beyond an
    allocation.
    """
    found = [
        subprocess.run(
            ["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in LIBRARIES
    ]
    if not all(Path(path).is_absolute() for path in found):
        pytest.skip("the compiler has no address sanitizer")
    environment = {
        "LD_PRELOAD": ":".join(found),
        "ASAN_OPTIONS": "detect_leaks=0",
        "SEQLAB_CACHE": str(tmp_path),
    }
    *wrong, summary = run_alone(
        "tests.cells.native_fuzz", f"--calls={FUZZ_CALLS}", "--seed=2", "--sanitize", **environment
    )
    assert wrong == []
    refused, answered = (int(part.split()[1]) for part in summary.split(", "))
    assert min(refused, answered) > FUZZ_CALLS // 10
