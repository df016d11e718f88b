"""The test suite's own shape checks see what they should, and nothing else."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests import shape_checks

SOURCE = """
from __future__ import annotations
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, TYPE_CHECKING
import numpy as np
from jaxtyping import Float
if TYPE_CHECKING:
    from decimal import Decimal

class Layer:
    @classmethod
    def build(cls, amount: Decimal) -> Self:
        return cls()

    def apply(
        self, inputs: Float[np.ndarray, "batch time"], weights: Float[np.ndarray, " time"], *, turn: bool = False
    ) -> Float[np.ndarray, " batch"]:
        return inputs[0] if turn else inputs @ weights

    def both(self, inputs: Float[np.ndarray, " time"]) -> tuple[Float[np.ndarray, " time"], int]:
        return inputs[1:], 3

    def lengths(self, ragged: list[Float[np.ndarray, " time"]]) -> list[int]:
        return [len(row) for row in ragged]

    def steps(self, inputs: Float[np.ndarray, " time"]) -> Iterator[float]:
        yield from inputs

    def sum_of_rest(self, inputs: Float[np.ndarray, " time"]) -> float:
        return sum(self.steps(inputs[1:]))

@dataclass(frozen=True)
class Pair:
    first: Float[np.ndarray, " time"]
    second: Float[np.ndarray, " time"]
    maybe: Float[np.ndarray, " time"] | None = None
"""


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "shapes_of_a_trial.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with shape_checks.switch_on("shapes_of_a_trial"):
        yield importlib.import_module("shapes_of_a_trial")
    del sys.modules["shapes_of_a_trial"]


def test_arguments_whose_axes_disagree_are_refused(checked: ModuleType) -> None:
    with pytest.raises(Exception, match="weights"):
        checked.Layer().apply(np.ones((3, 5)), np.ones(4))


def test_a_result_whose_axes_disagree_is_refused(checked: ModuleType) -> None:
    with pytest.raises(Exception, match="return"):
        checked.Layer().apply(np.ones((3, 5)), np.ones(5), turn=True)


def test_agreeing_axes_pass(checked: ModuleType) -> None:
    np.testing.assert_array_equal(checked.Layer().apply(np.ones((3, 5)), np.ones(5)), np.full(3, 5.0))


def test_annotations_without_shapes_are_left_to_the_type_checker(checked: ModuleType) -> None:
    anything: Any = "three"
    assert isinstance(checked.Layer.build(anything), checked.Layer)


def test_a_shape_inside_a_tuple_is_checked(checked: ModuleType) -> None:
    with pytest.raises(Exception, match="time"):
        checked.Layer().both(np.ones(3))


def test_arrays_in_a_list_may_differ_in_length(checked: ModuleType) -> None:
    for _ in range(20):
        assert checked.Layer().lengths([np.ones(3), np.ones(4), np.ones(5)]) == [3, 4, 5]


def test_a_generator_is_checked_when_it_is_called_and_its_axes_are_not_those_of_its_caller(
    checked: ModuleType,
) -> None:
    assert checked.Layer().sum_of_rest(np.ones(4)) == 3.0
    with pytest.raises(Exception, match="inputs"):
        checked.Layer().steps(np.ones((2, 3)))


def test_annotations_of_a_checked_function_can_be_read(checked: ModuleType) -> None:
    assert inspect.signature(checked.Layer.apply).parameters["turn"].annotation == "bool"


def test_fields_of_a_dataclass_are_checked(checked: ModuleType) -> None:
    checked.Pair(np.ones(3), np.ones(3))
    with pytest.raises(Exception, match="second"):
        checked.Pair(np.ones(3), np.ones(4))
    with pytest.raises(Exception, match="maybe"):
        checked.Pair(np.ones(3), np.ones(3), np.ones(4))


def test_the_package_itself_is_checked() -> None:
    module = importlib.import_module("seqlab.core.errors")
    assert type(module.__loader__).__module__ == shape_checks.__name__
