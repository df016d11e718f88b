"""A damaged cache of encoded data never changes a training or a resume: it is made again."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.recipes.read import check
from seqlab.runs.train.prepare import prepare
from tests.runs import toy_runs
from tests.runs.toy_runs import SETTINGS, fingerprint, finish, go_on, start

pytestmark = pytest.mark.slow  # trainings in processes of their own
FILES = {
    "language_model": [
        "tokens.bin",
        "tokens.offsets.bin",
        "starts.bin",
        "starts.offsets.bin",
        "looked_at.bin",
        "store.json",
    ],
    "classifier": ["tokens.bin", "tokens.offsets.bin", "label.bin", "line.bin", "store.json"],
}
SURVEY = ("starts.bin", "starts.offsets.bin", "looked_at.bin")
"""Files of the survey, which is one store; the others exist for the training and the validation split."""


def flip_low_bits(cache: Path, name: str, chance: random.Random) -> None:
    """Sixteen low bits in this file of every store: ids stay ids, so nothing but a digest can tell."""
    paths = list(cache.rglob(name))
    assert len(paths) >= (1 if name in SURVEY else 2)
    for path in paths:
        content = bytearray(path.read_bytes())
        for place in chance.sample(range(len(content)), min(16, len(content))):
            content[place] ^= 1
        path.write_bytes(content)


def with_cache(cache: Path, target: Callable[..., None], *arguments: Any) -> None:
    """In a process of its own: its environment is that of the server it was forked from."""
    os.environ["SEQLAB_CACHE"] = str(cache)
    target(*arguments)


CASES = [
    pytest.param("classifier", ["tokens.bin", "label.bin"], id="two files"),
    *(pytest.param(kind, FILES[kind], id=kind, marks=pytest.mark.long) for kind in FILES),
]


def train_once(kind: str, folder: Path) -> tuple[Path, Path, dict[str, Any]]:
    """The cache, the data, and what came out of a training with a cache of its own, in the folder `whole`."""
    cache, data = folder / "cache", toy_runs.write_data(kind, folder)
    assert finish(with_cache, cache, start, data, folder / "whole", SETTINGS[kind]) == 0
    return cache, data, fingerprint(folder / "whole")


@pytest.mark.parametrize(("kind", "names"), CASES)
def test_flips_in_every_file_of_the_cache_change_no_training(
    kind: str, names: list[str], tmp_path: Path
) -> None:
    cache, data, whole = train_once(kind, tmp_path)
    chance = random.Random(7)
    for name in names:
        flip_low_bits(cache, name, chance)
        assert finish(with_cache, cache, start, data, tmp_path / "again", SETTINGS[kind]) == 0, name
        assert fingerprint(tmp_path / "again") == whole, name
        shutil.rmtree(tmp_path / "again")


@pytest.mark.parametrize(("kind", "names"), CASES)
def test_flips_in_every_file_of_the_cache_change_no_resume(
    kind: str, names: list[str], tmp_path: Path
) -> None:
    cache, data, whole = train_once(kind, tmp_path)
    chance = random.Random(8)
    for name in names:
        shutil.copytree(tmp_path / "whole", tmp_path / "resumed", symlinks=True)
        newest = sorted((tmp_path / "resumed" / "checkpoints").glob("step-*"))[-1]
        shutil.rmtree(newest)  # so that there are steps left
        flip_low_bits(cache, name, chance)
        assert finish(with_cache, cache, go_on, data, tmp_path / "resumed", SETTINGS[kind]) == 0, name
        assert fingerprint(tmp_path / "resumed") == whole, name
        shutil.rmtree(tmp_path / "resumed")


def test_a_rebuilt_cache_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    data = toy_runs.write_data("classifier", tmp_path)
    small = {"steps": 1, "batch_size": 4, "threads": 1}
    recipe = check({"data": {"train": str(data)}, "training": small}, where="")
    prepare(recipe)
    flip_low_bits(tmp_path / "cache", "label.bin", random.Random(1))
    said: list[str] = []
    prepare(recipe, on_stage=said.append)
    assert sum("train were damaged (label.bin)" in line for line in said) == 1
    said.clear()
    prepare(recipe, on_stage=said.append)
    assert not any("damaged" in line for line in said)
