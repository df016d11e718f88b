"""Facts about tasks: light to import, and honest about settings without effect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.core.errors import RecipeError
from seqlab.recipes.overrides import override
from seqlab.recipes.read import check, read_raw, shipped_recipes
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import find_spec
from tests.golden.cases import CASES

HEAVY = {"torch", "numpy", "jaxtyping"}
TASKS = (
    "classification",
    "multi_label",
    "regression",
    "tagging",
    "translation",
    "captioning",
    "forecasting",
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


SERIES = ("data.time=date", "data.date_order=day", "data.horizon=7", "data.known=a,b", "data.static=a")
"""Settings of series to forecast."""
USED = {
    "bag.n_grams=2": {"classification", "multi_label", "regression"},
    "decoder.attention=dot": {"translation", "captioning"},
    "scheduled_sampling.schedule=linear": {"translation", "captioning"},
    "training.label_smoothing=0.1": {*TASKS} - {"regression", "forecasting"},
    "tokens.shared=true": {"translation"},
    "tokens.target_kind=words": {"translation", "captioning"},
    "data.language=to": {"translation"},
    "data.image_size=16": {"captioning"},
    "data.label_separator=;": {"multi_label"},
    **{setting: {"forecasting"} for setting in SERIES},
    "data.max_length=50": {*TASKS} - {"captioning", "forecasting", "language_model", "masked_language_model"},
}
"""Settings that change what is learned, and the tasks whose parts read them."""
BATCHES = {
    "training.batch_tokens=500": {"translation", "captioning"},
    "training.group_by_length=false": {"classification", "multi_label", "regression", "tagging"},
    "training.pad_to=64": {"classification", "multi_label", "regression", "tagging"},
}
"""Settings that only arrange batches."""


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", USED)
def test_a_setting_without_effect_is_refused(task: str, setting: str) -> None:
    recipe = check(override({"task": task}, [setting]), where="", is_trained=True)
    if task in USED[setting]:
        assert find_spec(task).check_ignored(recipe) == []
        return
    with pytest.raises(RecipeError) as caught:
        find_spec(task).check_ignored(recipe)
    for fact in (setting.partition("=")[0], task, *USED[setting]):
        assert fact in str(caught.value)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", BATCHES)
def test_a_setting_that_would_only_arrange_batches_is_announced(task: str, setting: str) -> None:
    sentences = find_spec(task).check_ignored(check(override({"task": task}, [setting]), where=""))
    assert len(sentences) == (task not in BATCHES[setting])
    assert all(setting.partition("=")[0] in sentence and task in sentence for sentence in sentences)


def test_all_settings_without_effect_are_named_at_once() -> None:
    recipe = check(
        override({"task": "tagging"}, ["bag.n_grams=2", "decoder.layers=2"]), where="", is_trained=True
    )
    with pytest.raises(RecipeError) as caught:
        find_spec("tagging").check_ignored(recipe)
    assert "bag.n_grams" in str(caught.value)
    assert "decoder.layers" in str(caught.value)


def test_shipped_recipes_and_golden_cases_have_no_setting_without_effect() -> None:
    for name in shipped_recipes():
        recipe = check(read_raw(name), where=name)
        assert find_spec(recipe.task).check_ignored(recipe) == []
    for name, case in CASES.items():
        words = [
            f"{setting}={_word(value)}"
            for setting, value in case.all_settings().items()
            if not setting.startswith("model.")  # the options of a network depend on its name
        ]
        recipe = check(
            override({"task": case.task}, words), where="", is_trained=True
        )  # without its other run
        sentences = find_spec(case.task).check_ignored(recipe)
        assert bool(sentences) == (name == "batch_tokens"), name  # whose classifier takes the default size


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
