"""The examples on the guide run, and print what the page says they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "inspect.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


NAMES = ["instruments", "receptive field", "clipping", "alignments"]
RUNS = [
    pytest.param(example, id=name, marks=[pytest.mark.long] if name == "alignments" else [])
    for name, example in zip(NAMES, EXAMPLES, strict=True)
]


@pytest.mark.parametrize("example", RUNS)
def test_examples_run_and_print_what_they_promise(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(example, "inspect.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed
    for promised in re.findall(r"# (\[[\d, ]+\])", example):
        assert promised in printed


def test_every_instrument_has_a_line() -> None:
    modules = (Path(__file__).parents[2] / "src" / "seqlab" / "inspection").glob("*.py")
    support = {"__init__", "step_order", "torch_recurrent", "layer_directions", "table_display"}
    assert [
        path.name for path in modules if path.stem not in support and f"| `{path.name}` |" not in PAGE
    ] == []
