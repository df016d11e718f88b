"""Every cell has its page and its picture, and both say what the code says."""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from seqlab.cells.base import Cell, GatedCell, cells
from seqlab.models.parameter_formulas import CELLS, count_parameters
from seqlab.pages.charts.cell_diagrams import CELL_DIAGRAMS
from seqlab.studies.base import studies
from tests.cells.cells_to_try import OPTIONS
from tests.check_each import check_each

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


PAGES = script("cell_pages")


def build(name: str, input_size: int, hidden_size: int) -> Cell:
    options = {"proj_size": 2} if name == "projected_lstm" else {}
    return cells.get(name)(input_size, hidden_size, **options)


def test_every_cell_has_its_page_and_picture_and_a_line_in_the_table() -> None:
    check_each(cells.names(), cell_has_its_page)


def cell_has_its_page(name: str) -> None:
    assert name in CELL_DIAGRAMS
    assert (DOCS / "concepts" / "cells" / f"{name}.md").read_text(encoding="utf-8") == PAGES.page(name), (
        "run: python docs/cell_pages.py"
    )
    assert (DOCS / "concepts" / "cells" / f"{name}.svg").is_file()
    assert f"| [{name}]({name}.md) |" in (DOCS / "concepts" / "cells" / "index.md").read_text(
        encoding="utf-8"
    )


def test_the_page_of_a_cell_names_its_papers() -> None:
    named = [name for name in cells.names() if "- Paper" in PAGES.page(name)]
    assert set(cells.names()) - set(named) == {"additive", "single_gate"}  # from the lectures


def test_the_comparison_of_cells_is_what_the_script_writes() -> None:
    assert (DOCS / "concepts" / "cells" / "index.md").read_text(encoding="utf-8") == PAGES.index(), (
        "run: python docs/cell_pages.py"
    )
    assert set(PAGES.ABOUT) == set(cells.names()) == set(OPTIONS)


@pytest.mark.parametrize(("input_size", "hidden_size"), [(3, 5), (7, 4)])
def test_the_formula_of_the_page_counts_the_parameters(input_size: int, hidden_size: int) -> None:
    check_each(cells.names(), partial(formula_counts, input_size=input_size, hidden_size=hidden_size))


def formula_counts(name: str, input_size: int, hidden_size: int) -> None:
    counted = sum(parameter.numel() for parameter in build(name, input_size, hidden_size).parameters())
    assert count_parameters(CELLS[name], {"i": input_size, "h": hidden_size, "p": 2}) == counted


def test_gates_and_state_of_the_page_are_those_of_the_cell() -> None:
    check_each(cells.names(), gates_and_state_are_those_of_the_page)


def gates_and_state_are_those_of_the_page(name: str) -> None:
    cell, about = build(name, 3, 5), PAGES.ABOUT[name]
    assert len(about.state.split(", ")) == cell.num_state_tensors
    assert bool(about.gates) == isinstance(cell, GatedCell)
    if isinstance(cell, GatedCell):
        shown = cell.gates(
            cell.project(cell.input.new_zeros(2, 3)), cell.zero_state(cell.input.new_zeros(2, 1))
        )
        assert set(shown) - {"candidate"} == set(about.gates)


@pytest.mark.spec(72, 82, 87)
def test_pictures_of_the_documents_are_what_the_code_draws() -> None:
    for drawing in ("pictures", "concept_pictures"):
        for path, text in script(drawing).pictures().items():
            assert path.read_text(encoding="utf-8") == text, f"{path.name}: run: python docs/{drawing}.py"


def test_every_study_has_a_line_on_the_page_of_studies(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "guides" / "studies.md").read_text(encoding="utf-8")
    assert [name for name in studies.names() if f"| `{name}` |" not in page] == []
    example = page.partition("```python\n")[2].partition("```")[0]
    exec(compile(example, "studies.md", "exec"), {})
    assert capsys.readouterr().out.strip() == example.rpartition("# ")[2].strip()
