"""The settings of a cell are its constructor's signature: for built-in cells and for those of plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import pytest
from pydantic import Field
from torch import Tensor

from seqlab.cells.base import Cell, State
from seqlab.cells.registry import cells
from seqlab.cells.settings import CELL_KINDS, cell_settings
from seqlab.core.constructor_options import options_in_source, options_of_class
from seqlab.core.errors import RecipeError
from seqlab.core.settings import describe
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.read import check, override


@pytest.mark.parametrize("name", cells.names())
def test_the_source_says_what_the_imported_class_says(name: str) -> None:
    in_source, of_class = (
        options_in_source(cells.built_in_module(name), name),
        options_of_class(cells.get(name)),
    )
    assert list(in_source) == list(of_class)
    for option, (annotation, default) in in_source.items():
        assert (str(annotation), default) == (str(of_class[option][0]), of_class[option][1])


def test_a_constructor_that_is_inherited_is_found_in_the_other_file() -> None:
    assert list(options_in_source("seqlab.cells.min_gru", "min_gru")) == ["bias"]


class LeakyCell(Cell):
    """A leaky integrator."""

    num_gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: bool = True,
        leak: Annotated[float, Field(ge=0, le=1, description="Share of the state that leaks.")] = 0.1,
        form: Literal["before", "after"] = "before",
    ) -> None:
        self.leak, self.form = leak, form
        super().__init__(input_size, hidden_size, bias=bias)

    def step(self, projected: Tensor, state: State) -> tuple[Tensor, State]:
        hidden = (1 - self.leak) * state[0] + projected
        return hidden, (hidden,)


@pytest.fixture
def leaky() -> Iterator[str]:
    cells.register("leaky")(LeakyCell)
    yield "leaky"
    cells._parts.pop("leaky")


def test_a_cell_of_a_plugin_has_its_settings_without_any_list(leaky: str) -> None:
    recipe = check(override({}, ["model.cell.leak=0.5"], model=leaky), where="")
    assert recipe.model.cell.model_dump() == {
        "kind": "leaky",
        "bias": True,
        "leak": 0.5,
        "form": "before",
    }
    assert leaky in CELL_KINDS
    assert leaky in MODEL_ALIASES
    sentences = {entry.name: entry.sentence for entry in describe(CELL_KINDS[leaky])}
    assert sentences["leak"] == "Share of the state that leaks."
    for wrong, fact in (("leak=2", "at most 1"), ("form=between", "before or after"), ("leek=1", "'leak'")):
        with pytest.raises(RecipeError, match=fact):
            check(override({}, [f"model.cell.{wrong}"], model=leaky), where="")


def test_a_cell_that_is_defined_again_has_its_new_options(leaky: str) -> None:
    """As when a cell of a notebook is run a second time."""

    class Later(LeakyCell):
        def __init__(self, input_size: int, hidden_size: int, *, rate: float = 0.3) -> None:
            super().__init__(input_size, hidden_size, leak=rate)

    assert "leak" in cell_settings(leaky).model_fields
    cells._parts[leaky] = Later
    assert set(cell_settings(leaky).model_fields) == {"kind", "rate"}
