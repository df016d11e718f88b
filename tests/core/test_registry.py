"""Parts are found by the names of their files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from seqlab.core.errors import UsageError
from seqlab.core.registry import Registry
from seqlab.datasets.base import datasets
from seqlab.models.base import bodies
from seqlab.tasks.base import tasks
from seqlab.tokens.base import tokenizers

REGISTRIES = [datasets, bodies, tasks, tokenizers]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_gives_a_part_and_a_sentence(registry: Registry[type]) -> None:
    assert registry.names()
    for name in registry.names():
        assert isinstance(registry.get(name), type)
        assert registry.sentence(name).rstrip(")").endswith((".", "?")), name


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no dataset called 'digitz'") as caught:
        datasets.get("digitz")
    assert "Did you mean 'digits'?" in str(caught.value)


@pytest.mark.parametrize("name", ["__init__", "base", "../core/errors", "os", ""])
def test_only_parts_of_the_room_can_be_asked_for(name: str) -> None:
    with pytest.raises(UsageError):
        datasets.get(name)


def test_a_name_is_registered_once() -> None:
    registry: Registry[type] = Registry("thing", room="seqlab.core")
    registry.register("a")(int)
    with pytest.raises(ValueError, match="thing 'a' is registered twice"):
        registry.register("a")(str)


def test_names_and_sentences_are_read_without_importing() -> None:
    code = (
        "import sys; from seqlab.core.registry import Registry; registry = Registry('model', room='seqlab.models');"
        "print(registry.names(), registry.sentence('recurrent'), 'torch' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("['convolutional', 'fixed_window', 'recurrent', 'transformer'] Recurrent networks")
    assert printed.endswith("False\n")
