"""In which settings two recipes differ."""

from __future__ import annotations

import pytest

from seqlab.models.aliases import MODEL_ALIASES, SHORT_NAMES
from seqlab.models.short_name import short_name
from seqlab.recipes.read import check
from seqlab.runs.compare.settings_diff import settings_diff


def test_only_what_differs_is_listed_and_shared_settings_come_first() -> None:
    recipes = {
        "a": check({"model": "bilstm", "training": {"learning_rate": 0.01, "steps": 5}}, where=""),
        "b": check({"model": "cnn", "training": {"steps": 5}}, where=""),
    }
    rows = settings_diff(recipes)
    settings = [row["setting"] for row in rows]
    assert {"setting": "training.learning_rate", "a": "0.01", "b": "0.001"} in rows
    assert {"setting": "model.bidirectional", "a": "true", "b": "–"} in rows
    assert "training.steps" not in settings
    assert settings.index("training.learning_rate") < settings.index("model.bidirectional")
    assert settings_diff({"a": recipes["a"], "c": recipes["a"]}) == []


@pytest.mark.parametrize("name", list(MODEL_ALIASES))
def test_the_short_name_of_a_model_stands_for_the_same_settings(name: str) -> None:
    settings = check({"model": name}, where="").model
    again = short_name(settings)
    assert check({"model": again}, where="").model == settings
    if name not in SHORT_NAMES or name.startswith("bi"):
        assert again == name


def test_a_run_of_a_bilstm_is_called_bilstm() -> None:
    model = check({"model": "bilstm", "training": {"seed": 3}}, where="").model
    assert short_name(model.model_copy(update={"hidden_size": 7, "dropout": 0.5})) == "bilstm"
