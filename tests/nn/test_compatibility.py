"""The table of docs/reference/nn_compatibility.md is what the layers do: every cell of it compares numbers with
torch's class.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nn.compatibility.__main__ import MORE, SAME, outcome
from tests.nn.compatibility.behaviors import FAST, SLOW
from tests.nn.compatibility.layers import COLUMNS
from tests.run_alone import run_alone

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "nn_compatibility.md"


def rows_of_the_page() -> list[str]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert lines[0] == f"| | {' | '.join(COLUMNS)} |"
    return lines[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "either_way"),
    [
        pytest.param("fast", "without kernels"),
        pytest.param("fast", "with kernels", marks=pytest.mark.long),
        pytest.param("slow", "without kernels", marks=pytest.mark.long),
        pytest.param("slow", "with kernels", marks=pytest.mark.long),
    ],
    indirect=["either_way"],
)
def test_the_table_of_the_page_is_what_the_layers_do(which: str, either_way: str) -> None:
    has_kernels = either_way == "with kernels"
    found = run_alone("tests.nn.compatibility", which, SEQLAB_NATIVE="1" if has_kernels else "0")
    found = [line for line in found if line.startswith("| ")]  # torch prints the graph of a refused export
    assert [line.split(" | ")[0].removeprefix("| ") for line in found] == [
        *(FAST if which == "fast" else SLOW)
    ]
    for line in found:
        assert line in rows_of_the_page()


TRIED_BY_ITSELF = {
    "trace": (
        "`torch.jit.trace`, called with other batch sizes and lengths",
        "TransformerEncoderLayer",
        SAME,
    ),
    "symbolic trace": ("`torch.fx.symbolic_trace` of a model with the layer", "LSTM", SAME),
    "double backward": ("second derivatives (`create_graph=True`)", "MultiheadAttention", SAME),
    "forward mode": ("forward-mode differentiation", "MultiheadAttention", SAME),
    "forward mode of a layer": ("forward-mode differentiation", "TransformerEncoderLayer", MORE),
    "jacobian": ("`jacobian(vectorize=True)`, packed", "LSTM", SAME),
}
"""Row, layer and what the table says."""


@pytest.mark.usefixtures("either_way")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize(("row", "layer", "expected"), TRIED_BY_ITSELF.values(), ids=TRIED_BY_ITSELF)
def test_a_tool_that_once_failed_is_tried_by_itself(row: str, layer: str, expected: str) -> None:
    """In this process, so that it is known at once which one fails."""
    build = next(builds[layer] for builds in COLUMNS.values() if layer in builds)
    assert outcome(row, FAST[row], layer, build) == expected


def test_the_page_has_every_row_once() -> None:
    assert [line.split(" | ")[0].removeprefix("| ") for line in rows_of_the_page()] == [*FAST, *SLOW]
