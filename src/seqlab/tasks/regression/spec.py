"""Predict a number for every sequence: stars of a review, a price, a score, a dose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from seqlab.core.errors import DataError
from seqlab.core.settings import Settings
from seqlab.sources.bad_rows import EmptyCell
from seqlab.sources.base import Row, is_empty
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.series import number
from seqlab.tasks.labeled.spec import WholeSequenceSpec
from seqlab.tasks.spec import task_specs

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


class RegressionSettings(Settings):
    """The loss of a predicted number."""

    loss: Literal["huber", "squared"] = Field(
        "huber",
        description=(
            "Loss function: squared (half the squared error), or huber, which is linear beyond one standard"
            " deviation."
        ),
    )


@task_specs.register("regression")
class RegressionSpec(WholeSequenceSpec):
    """Predicts one number for every sequence."""

    name = "regression"
    settings = RegressionSettings
    guess_order = 50
    answer = "number"
    needs = "a column of numbers"
    label_is_number = True
    ignored = (*WholeSequenceSpec.ignored, "training.label_smoothing")

    def read_answer(self, row: Row, data: DataSettings) -> float:
        """Read a number; empty cells and NaN are rejected."""
        value = row.values.get(data.label)
        try:
            return number(row, data.label)
        except DataError as error:
            kind = EmptyCell if is_empty(value) else DataError
            raise kind(
                f"column '{data.label}' holds {str(value)[:40]!r}, expected a number.",
                where=row.where,
                cure=(
                    "Fix the row, or skip such rows with data.bad_rows=skip. Set data.label=NAME to use another column."
                ),
            ) from error

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.regression.parts import PARTS

        return PARTS
