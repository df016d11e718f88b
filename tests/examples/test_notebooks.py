"""Every notebook runs from top to bottom, and what it displays is complete."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_cell(code: str, names: dict[str, Any], where: str) -> Any:
    """Run one cell and return what a notebook would display: the value of a last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    return eval(compile(ast.Expression(last.value), where, "eval"), names) if last else None


def test_notebooks_are_committed_without_outputs() -> None:
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert notebook["nbformat"] == 4
        cells = notebook["cells"]
        assert cells[0]["cell_type"] == "markdown", path.name
        assert len({cell["id"] for cell in cells}) == len(cells), path.name
        assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code"), path.name


def test_every_cell_parses_and_imports_what_exists() -> None:
    for path in NOTEBOOKS:
        for number, code in enumerate(code_cells(path), start=1):
            tree = ast.parse(code, f"{path.name}, code cell {number}")
            imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
            exec(compile(ast.Module(imports, []), f"{path.name}, code cell {number}", "exec"), {})


@pytest.mark.slow
def test_the_shortest_notebook_runs_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (path,) = [path for path in NOTEBOOKS if path.stem == "rnn_to_lstm_gradients"]
    threads = torch.get_num_threads()
    names: dict[str, Any] = {"__name__": "__main__"}
    displays = []
    try:
        for number, code in enumerate(code_cells(path), start=1):
            shown = run_cell(code, names, f"{path.name}, code cell {number}")
            if hasattr(shown, "_repr_html_"):
                displays.append(shown._repr_html_())
    finally:
        torch.set_num_threads(threads)
    check_displays(displays)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_a_kernel_and_displays_html(path: Path, tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()  # an error in a cell is raised
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error"]
    check_displays([output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})])


def check_displays(displays: list[str]) -> None:
    """Complete, and without scripts."""
    assert displays
    assert all(html.startswith("<") and "<script" not in html for html in displays)
