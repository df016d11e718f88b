"""What validation does with data of which nothing is predicted, and the sample that it records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab.core.errors import DataError
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.tagging.predictions import TagPredictions
from tests.tasks import test_tagging, test_translation


def test_a_translator_without_validation_targets_names_the_data_and_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = test_translation.make(tmp_path)
    objective = task.objective()
    monkeypatch.setattr(objective, "_validation_batches", list)
    with pytest.raises(DataError) as caught:
        objective.validate(task.build_model().eval())
    assert task.splits["valid"].rows.name in str(caught.value)
    assert "data.valid" in str(caught.value)


def test_a_tagger_without_validation_words_names_the_data_and_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = test_tagging.make(tmp_path)
    no_words = np.zeros(0, np.int64)
    empty = TagPredictions(
        ClassPredictions(no_words, np.zeros((0, len(task.codec.labels)), np.float32), no_words), no_words
    )
    monkeypatch.setattr("seqlab.tasks.tagging.objective.predict_tags", lambda *_: empty)
    with pytest.raises(DataError) as caught:
        task.objective().validate(task.build_model().eval())
    assert task.splits["valid"].rows.name in str(caught.value)
    assert "data.valid" in str(caught.value)


def test_every_validation_of_a_translator_records_a_sample_with_its_reference(tmp_path: Path) -> None:
    task = test_translation.make(tmp_path)
    facts: dict[str, Any] = task.objective().validate(task.build_model().eval()).facts
    row = next(iter(task.splits["valid"].rows.rows()))
    assert facts["sample"].startswith(row.values[task.recipe.data.source])
    assert row.values[task.recipe.data.target] in facts["sample"]
