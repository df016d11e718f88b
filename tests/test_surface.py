"""The few names that `import seqlab` offers."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from _pytest.config import parse_warning_filter

import seqlab
from seqlab.core import errors as core_errors


def test_all_is_what_is_there() -> None:
    assert seqlab.__all__ == [
        "Prediction",
        "Run",
        "Score",
        "Trainer",
        "__version__",
        "compare",
        "errors",
        "find_learning_rate",
        "load",
        "nn",
        "register",
        "train",
    ]
    assert sorted(dir(seqlab)) == sorted(seqlab.__all__)
    for name in seqlab.__all__:
        assert getattr(seqlab, name) is not None


def test_anything_else_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'seqlab' has no attribute 'wheels'"):
        seqlab.wheels  # noqa: B018


def test_python_suggests_the_right_name_for_a_misspelled_one() -> None:
    for program, name in (("seqlab.trian", "train"), ("seqlab.nn.LSTMM", "LSTM")):
        ended = subprocess.run(
            [sys.executable, "-c", f"import seqlab; {program}"], capture_output=True, text=True, check=False
        )
        assert f"Did you mean: '{name}'?" in ended.stderr


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert seqlab.__version__ == project["project"]["version"]


def test_options_of_the_two_functions_come_by_name() -> None:
    train = inspect.signature(seqlab.train).parameters
    assert [
        name for name, parameter in train.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ] == ["data"]
    assert {"task", "model", "minutes", "steps", "epochs", "seed", "out", "verbose"} <= set(train)
    assert list(inspect.signature(seqlab.load).parameters) == ["path"]
    for name in ("train", "load", "compare", "find_learning_rate"):
        assert inspect.getdoc(getattr(seqlab, name))


def test_warnings_can_be_filtered_by_the_public_name() -> None:
    """As `-W` and `filterwarnings` of pytest do, which import the module by its name."""
    category = parse_warning_filter("ignore::seqlab.errors.SeqlabWarning", escape=False)[2]
    assert category is core_errors.SeqlabWarning
    assert importlib.import_module("seqlab.errors") is seqlab.errors


def test_every_public_error_and_warning_is_offered() -> None:
    classes = {
        name
        for name, value in vars(core_errors).items()
        if inspect.isclass(value) and value.__module__ == core_errors.__name__
    }
    assert set(seqlab.errors.__all__) == classes
    assert all(getattr(seqlab.errors, name) is getattr(core_errors, name) for name in classes)
