"""The setting training.precision: a type that is not supported is rejected with the reason."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from seqlab.training.settings import TrainingSettings


@pytest.mark.parametrize("name", ["float16", "fp16", "half"])
def test_float16_is_rejected_with_the_reason_and_the_type_to_use(name: str) -> None:
    with pytest.raises(ValidationError, match=rf"precision={name}.*loss scaling.*bfloat16"):
        TrainingSettings(precision=name)  # type: ignore[arg-type]
