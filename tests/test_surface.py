"""The few names that `import seqlab` offers."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest

import seqlab


def test_all_is_what_is_there() -> None:
    assert seqlab.__all__ == [
        "Prediction",
        "Run",
        "Score",
        "__version__",
        "compare",
        "errors",
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
    for name in ("train", "load", "compare"):
        assert inspect.getdoc(getattr(seqlab, name))
