"""Facts about tasks: light to import, and honest about settings without effect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import find_spec

HEAVY = {"torch", "numpy", "jaxtyping"}
TASKS = (
    "classification",
    "multi_label",
    "regression",
    "tagging",
    "translation",
    "captioning",
    "language_model",
    "masked_language_model",
)


@pytest.mark.parametrize("task", TASKS)
def test_a_spec_imports_no_arrays(task: str) -> None:
    code = f"import sys, seqlab.tasks.{task}.spec; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not HEAVY & set(modules.split())


def test_the_reason_for_a_text_column_is_kept_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = [f"a long enough sentence number {number},{number % 2}" for number in range(40)]
    path.write_text("labelled_text,sentiment\n" + "\n".join(rows) + "\n")
    source = open_source(str(path), DataSettings())
    for task, has_label in (("classification", True), ("regression", False), ("language_model", False)):
        _, reasons = find_spec(task).find_columns(source, DataSettings())
        assert any("text column 'labelled_text'" in reason for reason in reasons)
        assert any("data.label=" in reason for reason in reasons) == has_label
